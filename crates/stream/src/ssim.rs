//! Structural similarity (SSIM) of a shown picture and the sent one.
//!
//! Formula and constants are those of Wang et al., "Image Quality Assessment: From Error Visibility to Structural Similarity", IEEE
//! Transactions on Image Processing 13(4), 2004, equation 13, over windows of 8x8 pixels without weights, four apart. Of the crates,
//! `image-compare` takes sums for variances, which is another figure, `ssimulacra2` is another measure, and `dssim-core` is AGPL.

/// Width and height to which both pictures are scaled: the smallest that is sent, so that no picture is enlarged.
pub(crate) const SCALED: (usize, usize) = (160, 90);

/// Side of a window, and the distance between two windows, in pixels.
const WINDOW: usize = 8;
const STEP: usize = 4;
/// Constants of the formula for 8 bits: (0.01 L)^2 and (0.03 L)^2 with L = 255.
const C1: f64 = 6.5025;
const C2: f64 = 58.5225;

/// Scales luma down to [`SCALED`], each pixel the mean of those that it covers. web/src/stream/luma.ts does the same.
pub(crate) fn scaled(luma: &[u8], width: usize, height: usize) -> Vec<u8> {
    let (columns, rows) = SCALED;
    let mean = |x: usize, y: usize| {
        let (across, down) =
            (x * width / columns..(x + 1) * width / columns, y * height / rows..(y + 1) * height / rows);
        let count = (across.len() * down.len()).max(1) as u64;
        let sum: u64 = down.flat_map(|y| &luma[y * width..][across.clone()]).map(|pixel| u64::from(*pixel)).sum();
        (sum / count) as u8
    };
    (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))).map(|(x, y)| mean(x, y)).collect()
}

/// Mean SSIM over all windows of two pictures of the size [`SCALED`]: 1 for equal ones.
pub(crate) fn ssim(first: &[u8], second: &[u8]) -> f64 {
    let (columns, rows) = SCALED;
    let corners =
        (0..=rows - WINDOW).step_by(STEP).flat_map(|y| (0..=columns - WINDOW).step_by(STEP).map(move |x| (x, y)));
    let windows: Vec<f64> = corners.map(|corner| of_window(corner, first, second)).collect();
    windows.iter().sum::<f64>() / windows.len() as f64
}

/// SSIM of the window with this corner.
fn of_window((x, y): (usize, usize), first: &[u8], second: &[u8]) -> f64 {
    let pixels = || (0..WINDOW).flat_map(move |row| (y + row) * SCALED.0 + x..(y + row) * SCALED.0 + x + WINDOW);
    let mean = |value: &dyn Fn(usize) -> f64| pixels().map(value).sum::<f64>() / (WINDOW * WINDOW) as f64;
    let (a, b) = (|at: usize| f64::from(first[at]), |at: usize| f64::from(second[at]));
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let variances = mean(&|at| (a(at) - mean_a).powi(2)) + mean(&|at| (b(at) - mean_b).powi(2));
    let covariance = mean(&|at| (a(at) - mean_a) * (b(at) - mean_b));
    (2.0 * mean_a * mean_b + C1) * (2.0 * covariance + C2)
        / ((mean_a * mean_a + mean_b * mean_b + C1) * (variances + C2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stripes of two levels.
    fn stripes(dark: u8, light: u8) -> Vec<u8> {
        (0..SCALED.0 * SCALED.1).map(|at| if at / 4 % 2 == 0 { dark } else { light }).collect()
    }

    #[test]
    fn equal_pictures_have_one_and_each_fault_takes_its_part() {
        let picture = stripes(60, 180);
        assert!((ssim(&picture, &picture) - 1.0).abs() < 1e-12);
        // Means 120 and 130, equal variances of 60^2: the luminance is left.
        let brighter = (2.0 * 120.0 * 130.0 + C1) / (120.0 * 120.0 + 130.0 * 130.0 + C1);
        assert!((ssim(&picture, &stripes(70, 190)) - brighter).abs() < 1e-9);
        // Equal means, half the deviation: the structure is left.
        let flatter = (2.0 * 60.0 * 30.0 + C2) / (60.0 * 60.0 + 30.0 * 30.0 + C2);
        assert!((ssim(&picture, &stripes(90, 150)) - flatter).abs() < 1e-9);
        assert!(ssim(&picture, &stripes(180, 60)) < -0.9, "the opposite");
    }

    #[test]
    fn each_pixel_of_a_scaled_picture_is_the_mean_of_those_that_it_covers() {
        let (width, height) = (320, 180);
        let luma: Vec<u8> = (0..width * height).map(|at| if at % width % 2 == 0 { 100 } else { 103 }).collect();
        assert_eq!(scaled(&luma, width, height), vec![101; SCALED.0 * SCALED.1]);
        let own = stripes(1, 2);
        assert_eq!(scaled(&own, SCALED.0, SCALED.1), own);
        // Widths that the scaled one does not divide.
        assert_eq!(scaled(&vec![7; 704 * 396], 704, 396), vec![7; SCALED.0 * SCALED.1]);
    }
}
