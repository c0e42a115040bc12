/** The mark of a line in the plots: its colour and dash, or an empty frame. */
export function Swatch({ colour }: { colour: number | null }) {
  return colour === null ? <span class="swatch" /> : <span class="swatch" data-colour={colour} style={`--colour: var(--series-${colour})`} />;
}
