import type { ErrorCode } from "../../http/errors.ts";
import type { PageSignals } from "../technologies/index.ts";
import type { FramePlan } from "../thumbnails/frame.ts";
import type { ThumbnailOptions } from "../thumbnails/parameters.ts";

/** What happened to a page on its way. */
export interface PageReport {
  /** The final URL, after redirects. */
  readonly url: string;
  /** The HTTP status that the page was answered with. */
  readonly status: number;
  /** The page had not finished loading within its time, and was taken as it was. */
  readonly incomplete: boolean;
  /** The page wanted more requests or bytes than it may have. */
  readonly overBudget: boolean;
}

/** A capture as it is asked for, across the border between two objects: plain data. */
export type CaptureRequest = ThumbnailOptions;

/** A captured page. */
export interface CaptureOutcome extends PageReport {
  /** The image as the browser made it: PNG, or the wanted format when `plan.exact` and it is not to be encoded again. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The bytes are the wanted image already. */
  readonly finished: boolean;
  readonly plan: FramePlan;
  /** CSS pixels at which a page that is too high was cut; null: it was not. */
  readonly cutAt: number | null;
}

/** A visit as it is asked for. */
export interface VisitRequest {
  readonly url: string;
  /** Source text of the probe's parts; see `probeExpression`. */
  readonly globalsProbe: string;
  readonly selectorsProbe: string;
}

/** What a page is made of. */
export interface VisitOutcome extends PageReport {
  readonly html: string;
  /** Signals that only a load of the page gives; the others are in the HTML. */
  readonly signals: Pick<
    PageSignals,
    "headers" | "cookies" | "scriptSrc" | "externalScripts" | "css" | "xhrHosts" | "robots" | "certIssuer"
  >;
  /** What the probe's parts returned; to be read by `readProbe`, because pages interfere. */
  readonly probes: readonly unknown[];
}

/** A failure as it crosses the border, where classes are lost. */
export interface PageFailure {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the browser's object answers. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: PageFailure };
