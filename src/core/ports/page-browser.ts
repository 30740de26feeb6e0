import type { PageSetup } from "./page-setup.ts";

/** A size in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * The requested size of an image. A side that is null follows from the subject's proportions; if both are null, the
 * image has the subject's own size.
 */
export interface RequestedSize {
  readonly width: number | null;
  readonly height: number | null;
  /**
   * Used if both sides are given. `cover` fills the size and crops the subject; `contain` fits the whole subject into
   * the size, which may leave space.
   */
  readonly fit: "cover" | "contain";
}

/** How to capture a subject, and the resulting image. */
export interface CapturePlan {
  /** The visible part of the subject, from its top left corner, in pixels of the emulated screen (see `Region`). */
  readonly clip: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  /** Captured pixels per pixel of the emulated screen. */
  readonly scale: number;
  /** The size of the image. */
  readonly output: Size;
  /** True if `scale` gives the capture the size of the image, so that no resizing is needed. */
  readonly exact: boolean;
}

/** The image formats; `jpg` is an alias of `jpeg`. */
export type ImageFormat = "jpeg" | "png" | "webp" | "avif";

/** A part of a page, in CSS pixels from its top left corner. */
export interface Clip extends Size {
  readonly x: number;
  readonly y: number;
}

/** The paper of a PDF; lengths in inches. */
export interface PaperLayout extends Size {
  readonly margins: {
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
    readonly left: number;
  };
  /** HTML of the header and footer of each sheet, with the page's own markup escaped; null: none. */
  readonly header: string | null;
  readonly footer: string | null;
  /** Ascending ranges of sheets to print, both ends included; empty: all. */
  readonly ranges: readonly { readonly first: number; readonly last: number }[];
  /** True to add an outline of the page's headings. */
  readonly outline: boolean;
}

/** The emulated screen. */
export interface Screen {
  /** Viewport in CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly deviceScaleFactor: number;
  readonly mobile: boolean;
  readonly touch: boolean;
}

/** When a page counts as loaded. */
export type WaitUntil = "load" | "domcontentloaded" | "networkidle0" | "networkidle2";

/** When a page is read or captured. */
export interface LoadMoment {
  readonly waitUntil: WaitUntil;
  /** Selector of an element that must exist before; null: no wait. */
  readonly waitForSelector: string | null;
  /** Text that the page must show before; null: no wait. */
  readonly waitForText: string | null;
  /** Maximum seconds to wait until the network is quiet and the document still. */
  readonly settle: number;
  /** Seconds to wait after the page has loaded and has been prepared. */
  readonly delay: number;
}

/** Everything that determines one capture. */
export interface ThumbnailOptions extends LoadMoment {
  /** The page's absolute address. */
  readonly url: string;
  readonly setup: PageSetup;
  /**
   * The paper to print the page on. Null: take an image, described by `format`, `quality`, `full`, `frame`,
   * `selectors` and `clip`.
   */
  readonly sheet: PaperLayout | null;
  readonly format: ImageFormat;
  /** 1 to 100; ignored for png. */
  readonly quality: number;
  readonly full: boolean;
  /** What an animation shows; null: a still image. */
  readonly scenario: "scroll" | null;
  readonly frame: RequestedSize;
  readonly screen: Screen;
  /** `%s` is replaced by the browser's version; null: the browser's own user agent. */
  readonly userAgent: string | null;
  /** Selectors whose first visible elements the image shows together; empty: `full` and `clip` decide. */
  readonly selectors: readonly string[];
  /** CSS pixels of the page around the elements. */
  readonly padding: number;
  /** Selector of the element at which an image of the viewport begins; null: the top of the page. */
  readonly scrollTo: string | null;
  /** True to lay out the largest scroll area of the page at its full height. */
  readonly detectFullHeight: boolean;
  /** The part of the page to show; null: `full` and `selectors` decide. */
  readonly clip: Clip | null;
  /** Selectors of elements to remove from the page's layout. */
  readonly hide: readonly string[];
  /** Selectors of elements to click on, in this order. */
  readonly click: readonly string[];
  /** True to scroll through the page first, so that it loads its lazy content. */
  readonly scroll: boolean;
  readonly darkMode: boolean;
  readonly reducedMotion: boolean;
  /** The CSS media type; null: `print` for a PDF, otherwise `screen`. */
  readonly media: "screen" | "print" | null;
  /** True to leave the background transparent if the page sets none. */
  readonly transparent: boolean;
  /** Name in the time zone database; null: the browser's own. */
  readonly timezone: string | null;
  /** Language tag (BCP 47); null: the browser's own. */
  readonly locale: string | null;
  readonly blockAds: boolean;
  readonly blockCookieBanners: boolean;
}

/** A match of a fingerprint's selector in the page. */
export type DomSignal = {
  readonly selector: string;
  /** `exists` and `text` are about the element itself; `attributes` and `properties` about one of its values, by name. */
  readonly kind: "exists" | "text" | "attributes" | "properties";
  /** The attribute or property; empty for the other kinds. */
  readonly name: string;
  readonly value: string;
};

/** A global of the page: a chain of properties such as `jQuery.fn.jquery`, and its value as text. */
export type GlobalSignal = { readonly chain: string; readonly value: string };

/** Texts by name; names are compared in lower case. */
export type NamedTexts = Readonly<Record<string, readonly string[]>>;

/** Everything collected from one load of a page. Each signal may be absent. */
export type PageSignals = {
  /** The final URL. */
  readonly url?: string;
  readonly html?: string;
  /** The visible text. */
  readonly text?: string;
  /** Response headers of the page; several values of one name become several texts. */
  readonly headers?: NamedTexts;
  /** Cookies of the page, by name. */
  readonly cookies?: NamedTexts;
  /** `content` of the meta elements, by `name` or `property`. */
  readonly meta?: NamedTexts;
  /** Absolute addresses of the scripts. */
  readonly scriptSrc?: readonly string[];
  readonly inlineScripts?: readonly string[];
  /** Sources of loaded scripts, one text each. */
  readonly externalScripts?: readonly string[];
  /** Style sheets, inline and loaded, one text each. */
  readonly css?: readonly string[];
  /** Globals of the page. */
  readonly js?: readonly GlobalSignal[];
  readonly dom?: readonly DomSignal[];
  /** Hosts that the page called with XMLHttpRequest or fetch. */
  readonly xhrHosts?: readonly string[];
  /** The site's robots.txt. */
  readonly robots?: string;
  /** Issuer of the site's certificate. */
  readonly certIssuer?: string;
  /** DNS records of the site, by type (`mx`, `txt`, `ns`, `soa`, `cname`, ...). */
  readonly dns?: NamedTexts;
};

/**
 * The steps of loading a page: the queue for a tab, the start of a browser, the opening of the tab, the load until the
 * page is idle, its preparation, and its reading or capture. `lost` is time spent in a browser that then went away.
 */
export type LoadStep = "queue" | "browser" | "tab" | "load" | "prepare" | "read" | "lost";

/** Time of each step, in order, milliseconds. */
export type StepTimings = readonly { readonly step: LoadStep; readonly ms: number }[];

/**
 * Why a page is not all that it should be. `blocked_markup`: a script or style sheet did not answer in time, and the
 * browser had not read the markup after it. `load_timeout`: the page still loaded resources when its time was over.
 * `response_cut`: the server's response broke off or could not be decoded. `over_budget`: the page exceeded its limit of
 * requests, bytes or computing time.
 */
export type IncompleteReason = "blocked_markup" | "load_timeout" | "response_cut" | "over_budget";

/** The outcome of loading a page. */
export interface PageReport {
  /** The final URL, after redirects. */
  readonly url: string;
  /** The HTTP status of the page's response. */
  readonly status: number;
  /** Why the page did not finish loading; null if it did. */
  readonly incomplete: IncompleteReason | null;
  /** The page exceeded its limit of requests, bytes or computing time. */
  readonly overBudget: boolean;
  /** Scripts of the text that the browser could not draw, as Unicode names them; `Emoji` and `Other` besides. */
  readonly missingGlyphs?: readonly string[];
  /** Absent if no browser loaded the page. */
  readonly spent?: StepTimings;
}

/** A capture request as plain data, so that it can cross RPC. */
export type CaptureRequest = ThumbnailOptions;

/** A captured page. */
export type CaptureOutcome = PictureOutcome | PrintOutcome;

/** A page as an image. */
export interface PictureOutcome extends PageReport {
  readonly kind: "picture";
  /** The image from the browser: PNG, or the requested format if `plan.exact` and no re-encoding is needed. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** True if the bytes already are the requested image. */
  readonly finished: boolean;
  readonly plan: CapturePlan;
  /** CSS pixels at which a page that is too high was cropped; null if it was not. */
  readonly cutAt: number | null;
  /** CSS pixels at which a page that is too wide was cropped; null if it was not. */
  readonly cutWidthAt: number | null;
}

/** A page as a PDF. */
export interface PrintOutcome extends PageReport {
  readonly kind: "print";
  /** The PDF. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Number of sheets; 0 if unknown. */
  readonly sheets: number;
  /** The page would need more sheets. */
  readonly isCut: boolean;
}

/** A request to read a page's content. */
export interface VisitRequest {
  readonly url: string;
  readonly moment: LoadMoment;
  readonly setup: PageSetup;
  /** Selectors of elements to read. */
  readonly elements?: readonly string[];
  /** Source texts of the probe scripts; see `createProbeExpression`. Null if markup, headers and cookies are enough. */
  readonly probes: { readonly globals: string; readonly selectors: string } | null;
}

/** The content of a page. */
export interface VisitOutcome extends PageReport {
  readonly html: string;
  /** Signals that only a load of the page provides; the HTML contains the others. */
  readonly signals: Pick<
    PageSignals,
    "headers" | "cookies" | "scriptSrc" | "externalScripts" | "css" | "xhrHosts" | "robots" | "certIssuer"
  >;
  /** The raw results of the probe scripts. Parse them with `parseProbeResult`: pages can falsify them. */
  readonly probes: readonly unknown[];
  /** For each of the request's `elements`, the elements that match. */
  readonly matches: readonly (readonly ElementMatch[])[];
}

/** An element of a page. */
export interface ElementMatch {
  /** The visible text. */
  readonly text: string;
  /** The markup, with the element itself. */
  readonly html: string;
  readonly attributes: Readonly<Record<string, string>>;
}
