import { choose, currentChoice } from "../theme.ts";
import { Choices } from "./Choices.tsx";

/** The choice of light or dark. */
export function Theme() {
  return <Choices label="Theme" options={[["auto", "auto"], ["light", "light"], ["dark", "dark"]] as const} chosen={currentChoice()} change={choose} />;
}
