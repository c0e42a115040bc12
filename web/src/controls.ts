/** Controls of a live cell: what its server says can be changed, and commands to it in the words of `tidemark ctl`. */

/** A number, with the range of its slider. */
export interface Dial {
  name: string;
  key: string;
  unit: string;
  /** Text between the number and the end of an assignment. */
  suffix: string;
  value: number;
  min: number;
  max: number;
  step: number;
}

/** A channel or a law, with its parameters. */
export interface Setting {
  name: string;
  /** Assignment that comes before each change; null where none has to. */
  first: string | null;
  key: string;
  kind: string;
  kinds: string[];
  dials: Dial[];
}

export interface Controlled {
  ues: { name: string; settings: Setting[] }[];
}

export interface Answer {
  isRefused: boolean;
  text: string;
}

/** Words of a command, which the answer repeats. */
export type Send = (words: string[]) => Promise<Answer>;

/** Words that give a key of a setting a value. */
export const assignment = ({ first }: Setting, key: string, value: string): string[] => ["set", ...(first === null ? [] : [first]), `${key}=${value}`];

/** The token in the fragment of the page's address; null without one. */
export const tokenIn = (fragment: string): string | null => new URLSearchParams(fragment.replace(/^#/, "")).get("token");

/** Sends commands with this token. */
export const sender =
  (token: string): Send =>
  async (words) => {
    try {
      const response = await fetch("/ctl", { method: "POST", headers: { Authorization: `Bearer ${token}` }, body: words.join("\n") });
      return { isRefused: !response.ok, text: (await response.text()).trim() };
    } catch {
      return { isRefused: true, text: "the cell can't be reached" };
    }
  };
