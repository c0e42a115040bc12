//! Positions of sites: a hexagonal grid of one site with zero to two rings around it, closed by wrap-around.

use tidemark_core::Stream;

/// A position or a displacement in metres: east, north. Positions count from the centre site.
pub type Point = [f64; 2];

/// Sites of a hexagonal grid.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The centre site first.
    pub sites: Vec<Point>,
    /// Offsets of the grid's copies, that of the grid itself first: an endless plane, seen from one of its tiles.
    copies: Vec<Point>,
    distance: f64,
}

/// The numbers of sites that fill whole rings, each with the way to the next copy in steps of the grid.
const GRIDS: [(u32, f64, f64); 3] = [(1, 1.0, 0.0), (7, 2.0, 1.0), (19, 3.0, 2.0)];

/// Numbers of sites that form a grid, in ascending order.
pub const SITES: [u32; 3] = [GRIDS[0].0, GRIDS[1].0, GRIDS[2].0];

fn turned(way: Point, sixths: u32) -> Point {
    let (sin, cos) = libm::sincos(f64::from(sixths) * core::f64::consts::FRAC_PI_3);
    [cos * way[0] - sin * way[1], sin * way[0] + cos * way[1]]
}
fn plus(a: Point, b: Point) -> Point {
    [a[0] + b[0], a[1] + b[1]]
}
fn times(a: Point, factor: f64) -> Point {
    [a[0] * factor, a[1] * factor]
}
fn square(a: Point) -> f64 {
    a[0] * a[0] + a[1] * a[1]
}
/// The way from one place to another.
pub(super) fn way(from: Point, to: Point) -> Point {
    [to[0] - from[0], to[1] - from[1]]
}
pub(super) fn length(way: Point) -> f64 {
    libm::sqrt(square(way))
}
/// The place `share` of the way from one to another.
pub(super) fn between(from: Point, to: Point, share: f64) -> Point {
    plus(from, times(way(from, to), share))
}

impl Layout {
    /// Lays out a grid of this many sites, one of [`SITES`], with `distance` in metres between neighbours.
    pub(super) fn new(sites: u32, distance: f64, wrap_around: bool) -> Self {
        let step = [distance, 0.0];
        let mut sites_at = vec![[0.0, 0.0]];
        for ring in 1..3u32 {
            for side in 0..6 {
                // From one corner of the ring to the next.
                let corner = times(turned(step, side), f64::from(ring));
                let along = turned(step, side + 2);
                sites_at.extend((0..ring).map(|step| plus(corner, times(along, f64::from(step)))));
            }
        }
        sites_at.truncate(sites as usize);
        let (_, i, j) = GRIDS.into_iter().find(|(count, ..)| *count == sites).unwrap_or(GRIDS[0]);
        let next = plus(times(step, i), times(turned(step, 1), j));
        let mut copies = vec![[0.0, 0.0]];
        if wrap_around {
            copies.extend((0..6).map(|side| turned(next, side)));
        }
        Self { sites: sites_at, copies, distance }
    }

    /// The way to a place from the nearest copy of a site.
    pub(super) fn seen_from(&self, site: usize, position: Point) -> Point {
        let ways = self.copies.iter().map(|copy| way(plus(self.sites[site], *copy), position));
        ways.min_by(|a, b| square(*a).total_cmp(&square(*b))).unwrap_or(position)
    }

    /// Maps a place outside the grid's own tile, however far, to the place in it that looks the same.
    pub(super) fn home(&self, position: Point) -> Point {
        let nearest = |position: Point| {
            let ways = self.copies.iter().map(|copy| way(*copy, position));
            ways.min_by(|a, b| square(*a).total_cmp(&square(*b))).unwrap_or(position)
        };
        let [_, one, other, ..] = self.copies[..] else { return position };
        if nearest(position) == position {
            return position;
        }
        // In steps of two neighbouring copies, 60 degrees apart: what whole steps leave is nearest to a copy around it.
        let area = one[0] * other[1] - one[1] * other[0];
        let ones = libm::round((position[0] * other[1] - position[1] * other[0]) / area);
        let others = libm::round((one[0] * position[1] - one[1] * position[0]) / area);
        nearest(way(plus(times(one, ones), times(other, others)), position))
    }

    /// A place anywhere in the sites' hexagons, no nearer to a site than `min_m` metres.
    pub(super) fn random(&self, stream: &mut Stream, min_m: f64) -> Point {
        let site = ((stream.uniform() * self.sites.len() as f64) as usize).min(self.sites.len() - 1);
        let mut offset = [0.0, 0.0];
        // Nearer ones are rare, unless sites stand so close that there is hardly anything else.
        for _ in 0..32 {
            offset = self.in_hexagon(stream);
            if square(offset) >= min_m * min_m {
                break;
            }
        }
        plus(self.sites[site], offset)
    }

    /// The hexagon's corners point north and south; two of them span each of three rhombs.
    fn in_hexagon(&self, stream: &mut Stream) -> Point {
        let corner = [0.0, self.distance / libm::sqrt(3.0)];
        let rhomb = ((stream.uniform() * 3.0) as u32).min(2);
        let one = times(turned(corner, 2 * rhomb), stream.uniform());
        plus(one, times(turned(corner, 2 * rhomb + 2), stream.uniform()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_grid_has_its_sites_at_their_distance() {
        for sites in [1, 7, 19] {
            let layout = Layout::new(sites, 500.0, true);
            assert_eq!(layout.sites.len() as u32, sites);
            for (index, site) in layout.sites.iter().enumerate() {
                for other in &layout.sites[..index] {
                    assert!(length(way(*site, *other)) > 499.9);
                }
            }
        }
    }

    #[test]
    fn with_wrap_around_every_site_has_six_neighbours_and_without_only_the_inner_ones() {
        for sites in [7, 19] {
            for wrap_around in [true, false] {
                let layout = Layout::new(sites, 500.0, wrap_around);
                let neighbours = |site: usize| {
                    let to = |other: usize| length(layout.seen_from(other, layout.sites[site]));
                    (0..layout.sites.len()).filter(|other| (to(*other) - 500.0).abs() < 0.1).count()
                };
                let lonely = (0..layout.sites.len()).filter(|site| neighbours(*site) < 6).count();
                // The outermost ring.
                let ring = if sites == 7 { 6 } else { 12 };
                assert_eq!(lonely, if wrap_around { 0 } else { ring });
            }
        }
    }

    #[test]
    fn who_leaves_the_tile_enters_it_on_the_other_side() {
        let layout = Layout::new(7, 500.0, true);
        for step in 0..200 {
            let position = [f64::from(step) * 97.0, f64::from(step) * 31.0];
            let home = layout.home(position);
            assert!(length(home) < 500.0 * 1.6, "{home:?}");
            // Seen from each site it is where it was.
            for site in 0..7 {
                let seen = length(layout.seen_from(site, home));
                assert!(seen < 500.0 * 1.6, "{seen}");
            }
        }
        // However far, and however small the tile.
        for (sites, distance) in [(1, 20.0), (7, 20.0), (19, 500.0)] {
            let layout = Layout::new(sites, distance, true);
            let reach = distance * libm::sqrt(f64::from(sites));
            for position in [[100_000.0, 0.0], [-70_000.0, 99_000.0], [3.0, -98_765.4], [5_000.0, 1.0]] {
                let home = layout.home(position);
                assert!(length(home) < reach && layout.home(home) == home, "{home:?} of {position:?}");
                // A way back by whole steps of the lattice.
                let step = layout.copies[1];
                let moved = layout.home(plus(position, times(step, 7.0)));
                assert!(length(layout.home(way(home, moved))) < 1e-6, "{moved:?} for {home:?}");
            }
        }
        let open = Layout::new(7, 500.0, false);
        assert_eq!(open.home([5_000.0, 0.0]), [5_000.0, 0.0]);
    }

    #[test]
    fn random_places_fill_the_hexagons_evenly() {
        let layout = Layout::new(7, 500.0, false);
        let mut stream = Stream::new(1, 0, "place");
        let positions: Vec<_> = (0..20_000).map(|_| layout.random(&mut stream, 35.0)).collect();
        let nearest =
            |position: Point| (0..7).map(|site| length(layout.seen_from(site, position))).fold(f64::MAX, f64::min);
        // No point of a hexagon is further than its corner, 500 / sqrt(3) m.
        assert!(positions.iter().all(|position| (35.0..288.7).contains(&nearest(*position))));
        // A circle of 200 m has pi 200^2 of the hexagon's 2 sqrt(3) 250^2, both less one of 35 m.
        let inside = positions.iter().filter(|position| nearest(**position) < 200.0).count() as f64 / 20_000.0;
        let hole = core::f64::consts::PI * 35.0 * 35.0;
        let expected = (core::f64::consts::PI * 4e4 - hole) / (2.0 * libm::sqrt(3.0) * 62_500.0 - hole);
        assert!((inside - expected).abs() < 0.01, "{inside} for {expected}");
        let mean = positions.iter().fold([0.0, 0.0], |sum, position| plus(sum, times(*position, 1.0 / 20_000.0)));
        assert!(length(mean) < 10.0, "{mean:?}");
    }
}
