export type { DomSignal, GlobalSignal, NamedTexts, PageSignals } from "../../core/ports/page-browser.ts";
export { createLazyDetector, type DetectedTechnology, TechnologyDetector } from "./detector.ts";
export { type HtmlSignals, headerSignals, parseCookieSignals, signalsFromHtml } from "./html-signals.ts";
export { createProbeExpression, type ProbePart, parseProbeResult } from "./probe.ts";
export { type TechnologiesResult, toTechnologiesResult } from "./result.ts";
