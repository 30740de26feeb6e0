import type { Choice } from "../../ui/forms/field.tsx";
import { texts } from "./texts.ts";

type TextName =
  | "selector"
  | "clip"
  | "scale"
  | "hide"
  | "click"
  | "waitForSelector"
  | "delay"
  | "locale"
  | "timezone"
  | "paper"
  | "margins";
type SwitchName = "scroll" | "transparent" | "landscape" | "full" | "mobile" | "darkMode";

/** Options of a screenshot. Empty fields mean the service's defaults. */
export interface ScreenshotOptions
  extends Readonly<Record<TextName, string>>,
    Readonly<Record<SwitchName, boolean>> {
  readonly url: string;
  readonly size: string;
  readonly format: string;
}

export const DEFAULT_SCREENSHOT: ScreenshotOptions = {
  url: "",
  size: "x",
  format: "jpg",
  selector: "",
  clip: "",
  scale: "",
  hide: "",
  click: "",
  waitForSelector: "",
  delay: "",
  locale: "",
  timezone: "",
  paper: "",
  margins: "",
  landscape: false,
  transparent: false,
  scroll: false,
  full: false,
  mobile: false,
  darkMode: false,
};

/** The predefined sizes. */
export const SIZES: readonly Choice[] = [
  ["t", texts.tiny],
  ["s", texts.small],
  ["m", texts.medium],
  ["l", texts.large],
  ["x", texts.extraLarge],
  ["og", texts.forSharing],
  ["o", texts.originalSize],
];

/** The formats. */
export const FORMATS: readonly Choice[] = [
  ["jpg", "JPEG"],
  ["png", "PNG"],
  ["webp", "WebP"],
  ["pdf", "PDF"],
];

/** A rarely used parameter, and whether it applies to pictures, PDFs or both. */
interface Option<Name extends keyof ScreenshotOptions> {
  readonly name: Name;
  readonly label: string;
  readonly example: string;
  readonly of: "picture" | "pdf" | "both";
}

/** Parameters with a text value. */
export const FIELDS: readonly Option<TextName>[] = [
  { name: "selector", label: texts.element, example: "#main", of: "picture" },
  { name: "clip", label: texts.clipRegion, example: "0,600,800,400", of: "picture" },
  { name: "scale", label: texts.deviceScaleFactor, example: "2", of: "picture" },
  { name: "paper", label: texts.paper, example: "a4", of: "pdf" },
  { name: "margins", label: texts.margins, example: "1cm", of: "pdf" },
  { name: "hide", label: texts.hideElements, example: ".banner, #chat", of: "both" },
  { name: "click", label: texts.click, example: "button.accept", of: "both" },
  { name: "waitForSelector", label: texts.waitFor, example: ".loaded", of: "both" },
  { name: "delay", label: texts.delaySeconds, example: "2", of: "both" },
  { name: "locale", label: texts.language, example: "de-CH", of: "both" },
  { name: "timezone", label: texts.timeZone, example: "Europe/Berlin", of: "both" },
];

/** Parameters that are on or off. */
export const SWITCHES: readonly Option<SwitchName>[] = [
  { name: "scroll", label: texts.loadLazyImages, example: "", of: "picture" },
  { name: "transparent", label: texts.transparent, example: "", of: "picture" },
  { name: "landscape", label: texts.landscape, example: "", of: "pdf" },
];

/** Builds path and query of a screenshot. Omits default values and parameters of the other kind. */
export function screenshotPath(options: ScreenshotOptions): string {
  const isPdf = options.format === "pdf";
  const query = new URLSearchParams({ url: options.url });
  if (!isPdf) query.set("size", options.size);
  if (options.format !== "jpg") query.set("format", options.format);
  const hasEffect = ({ of }: Option<keyof ScreenshotOptions>) => of !== (isPdf ? "picture" : "pdf");
  for (const { name } of FIELDS.filter(hasEffect)) if (options[name] !== "") query.set(name, options[name]);
  for (const { name } of SWITCHES.filter(hasEffect)) if (options[name]) query.set(name, "true");
  if (options.full && !isPdf) query.set("full", "true");
  for (const name of ["mobile", "darkMode"] as const) if (options[name]) query.set(name, "true");
  return `/v1/thumbs?${query}`;
}
