/** Data of a study's page, written from crates/study/src/page.rs by `make reference`. */

/** All that the page of a study shows. */
export interface StudyPage {
  /** Name of the study. */
  name: string;
  /** Description of the study; empty if it has none. */
  description: string;
  /** Version of the program. */
  version: string;
  /** Commit that the program was built from. */
  commit: string | null;
  /** Varied keys and names of cases. */
  columns: string[];
  /** True where every group of flows has points of its own. */
  by_flow: boolean;
  /** Metrics. */
  metrics: StudyMetric[];
  /** Points, each of one group of flows where these are apart. */
  points: StudyPoint[];
  /** Search of the study. */
  search: StudySearch | null;
  /** Findings of the search. */
  found: StudyFound[];
  /** Standard errors in the half-width of a 95 % confidence interval, by the number of values. */
  quantiles: (number | null)[];
  /** Text of the scenario. */
  scenario: string;
  /** File of the scenario; `null` for one that can't be named to the command. */
  file: string | null;
  /** True where the report of each run is kept, in the folder `series`. */
  has_reports: boolean;
}

/** A metric of a study. */
export interface StudyMetric {
  /** Path of the result field. */
  name: string;
  /** Unit; `null` for counts and shares. */
  unit: string | null;
}

/** All seeds of a point, or of one group of its flows. */
export interface StudyPoint {
  /** Value of each column; `null` where the point does not vary it. */
  values: (string | null)[];
  /** Name of the group of flows. */
  flow: string | null;
  /** Seeds, in order. */
  seeds: number[];
  /** Key of the run of each seed. */
  keys: string[];
  /** Assignments that make its runs, without the seed. */
  set: string[];
  /** Value of each metric at each seed; `null` where it was not measured. */
  metrics: ((number | null)[])[];
}

/** Search for the largest value at which a condition holds. */
export interface StudySearch {
  /** Key of the parameter. */
  key: string;
  /** Condition, in words. */
  condition: string;
  /** Metric of the condition. */
  metric: string;
  /** Bound of the condition. */
  bound: number;
}

/** Finding of a search at one point. */
export interface StudyFound {
  /** Varied values of the point. */
  point: string;
  /** Largest value that meets the condition; `null` if 1 does not. */
  value: number | null;
  /** True if no larger value was tried. */
  is_limit: boolean;
}
