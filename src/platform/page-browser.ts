/** A size in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The wanted size of an image; null: whatever the subject's proportions make of the other side, or of both. */
export interface Frame {
  readonly width: number | null;
  readonly height: number | null;
  /** With both sides given: the subject fills the size, and what is beyond is cut; or all of it is fitted into the size, which it may not fill. */
  readonly fit: "cover" | "contain";
}

/** How a subject is captured and what the image will be. */
export interface FramePlan {
  /** The part of the subject that is seen, in CSS pixels from its top left corner. */
  readonly clip: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  /** Captured pixels per CSS pixel. */
  readonly scale: number;
  /** The size of the image. */
  readonly output: Size;
  /** The capture has the size of the image already. */
  readonly exact: boolean;
}

/** The image formats; `jpg` and `jpeg` are one. */
export type ImageFormat = "jpeg" | "png" | "webp";

/** A part of a page, from its top left corner, in CSS pixels. */
export interface Clip extends Size {
  readonly x: number;
  readonly y: number;
}

/** The sheets of a PDF; lengths in inches. */
export interface Sheet extends Size {
  readonly margins: {
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
    readonly left: number;
  };
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

/** What the image shows: everything that one capture depends on. */
export interface ThumbnailOptions {
  /** The page's absolute address. */
  readonly url: string;
  /** Sheets to print the page on; null: an image, which `format`, `quality`, `full`, `frame`, `selector` and `clip` describe. */
  readonly sheet: Sheet | null;
  readonly format: ImageFormat;
  /** 1 to 100; without effect on png. */
  readonly quality: number;
  readonly full: boolean;
  readonly frame: Frame;
  readonly screen: Screen;
  /** `%s` stands for the browser's version; null: the browser's own. */
  readonly userAgent: string | null;
  readonly selector: string | null;
  /** The part of the page to show; null: what `full` and `selector` say. */
  readonly clip: Clip | null;
  /** Selectors of elements that are taken out of the page's layout. */
  readonly hide: readonly string[];
  /** Selectors of elements to click on, in this order. */
  readonly click: readonly string[];
  /** Selector of an element that has to be in the page; null: nothing is waited for. */
  readonly waitForSelector: string | null;
  /** The page is scrolled through, so that what is loaded when it is seen is there. */
  readonly scroll: boolean;
  /** Seconds to wait after the page has loaded and all that is to be done to it is done. */
  readonly delay: number;
  readonly waitUntil: WaitUntil;
  readonly darkMode: boolean;
  /** A page without a background of its own has none. */
  readonly transparent: boolean;
  /** Name in the time zone database; null: the browser's own. */
  readonly timezone: string | null;
  /** Language tag (BCP 47); null: the browser's own. */
  readonly locale: string | null;
  readonly blockAds: boolean;
  readonly blockCookieBanners: boolean;
}

/** What was found in elements that a fingerprint's selector matches. */
export type DomSignal = {
  readonly selector: string;
  /** `exists` and `text` concern the element itself; `attributes` and `properties` one of its values, by name. */
  readonly kind: "exists" | "text" | "attributes" | "properties";
  /** The attribute or property; empty for the other kinds. */
  readonly name: string;
  readonly value: string;
};

/** A global of the page: a chain of properties such as `jQuery.fn.jquery`, and its value as text. */
export type GlobalSignal = { readonly chain: string; readonly value: string };

/** Texts by name; names are compared in lower case. */
export type NamedTexts = Readonly<Record<string, readonly string[]>>;

/** Everything that one load of a page tells about it. Each signal may be absent. */
export type PageSignals = {
  /** The final URL. */
  readonly url?: string;
  readonly html?: string;
  /** The visible text. */
  readonly text?: string;
  /** Response headers of the page; several values of one name as several texts. */
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
  /** Hosts that the page made XMLHttpRequest or fetch calls to. */
  readonly xhrHosts?: readonly string[];
  /** The site's robots.txt. */
  readonly robots?: string;
  /** Who issued the site's certificate. */
  readonly certIssuer?: string;
  /** DNS records of the site, by type (`mx`, `txt`, `ns`, `soa`, `cname`, ...). */
  readonly dns?: NamedTexts;
};

/**
 * What a page is loaded in: a wait for a tab, a browser that has to be started first, the tab itself, the page's own loading until it rests, what is done
 * to it, and its reading or picture. What a browser did that went away is lost.
 */
export type Step = "queue" | "browser" | "tab" | "load" | "prepare" | "read" | "lost";

/** Where the time went: steps in their order, milliseconds. */
export type Spent = readonly { readonly step: Step; readonly ms: number }[];

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
  /** Absent where no browser has loaded it. */
  readonly spent?: Spent;
}

/** A capture as it is asked for, across the border between two objects: plain data. */
export type CaptureRequest = ThumbnailOptions;

/** A captured page. */
export type CaptureOutcome = PictureOutcome | PrintOutcome;

/** A page as an image. */
export interface PictureOutcome extends PageReport {
  readonly kind: "picture";
  /** The image as the browser made it: PNG, or the wanted format when `plan.exact` and it is not to be encoded again. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The bytes are the wanted image already. */
  readonly finished: boolean;
  readonly plan: FramePlan;
  /** CSS pixels at which a page that is too high was cut; null: it was not. */
  readonly cutAt: number | null;
  /** CSS pixels at which a page that is too wide was cut; null: it was not. */
  readonly cutWidthAt: number | null;
}

/** A page on sheets. */
export interface PrintOutcome extends PageReport {
  readonly kind: "print";
  /** The PDF. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** How many sheets there are; 0: unknown. */
  readonly sheets: number;
  /** The page would have more of them. */
  readonly isCut: boolean;
}

/** A visit as it is asked for. */
export interface VisitRequest {
  readonly url: string;
  /** Source texts of the probe's parts; see `probeExpression`. Null: markup, headers and cookies are enough. */
  readonly probes: { readonly globals: string; readonly selectors: string } | null;
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
