import type { Runtime, Site, SiteOptions } from "./site.ts";

/** What a part has to work with. */
export interface Errand {
  readonly site: Site;
  readonly count: number;
  readonly random: () => number;
}

/** What a part has found, besides what the books say afterwards. Everything but the note must be nothing. */
export interface Found {
  /** Answers that are not what they may be. */
  readonly wrong?: number;
  /** Slots that two had at once. */
  readonly twice?: number;
  /** Answers, and slots, that came later than they may. */
  readonly late?: number;
  /** What the program said that it had kept, and has not: requests of which history or usage know nothing, objects, edits. */
  readonly lost?: number;
  /** Memory that grew by more than a tenth, in MB. */
  readonly grown?: number;
  readonly note?: string;
}

/** One part of the campaign. */
export interface Part {
  readonly name: string;
  /** What `count` counts. */
  readonly what: string;
  readonly full: number;
  /** How many of them the short form does. */
  readonly short: number;
  /** Where it makes sense; on both runtimes unless given. */
  readonly runtimes?: readonly Runtime[];
  readonly site: SiteOptions;
  readonly run: (errand: Errand) => Promise<Found>;
}
