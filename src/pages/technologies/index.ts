export type { DomSignal, GlobalSignal, NamedTexts, PageSignals } from "../../platform/page-browser.ts";
export { type DetectedTechnology, TechnologyDetector, technologyDetector } from "./detector.ts";
export { cookiesOf, type HtmlSignals, namedTexts, signalsFromHtml } from "./html-signals.ts";
export { type ProbePart, probeExpression, readProbe } from "./probe.ts";
export { type TechnologiesResult, toTechnologiesResult } from "./result.ts";
