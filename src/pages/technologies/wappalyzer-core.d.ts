/** Types of the used parts of the detection engine; the package has none. */
declare module "wappalyzer-core" {
  export type EnginePattern = {
    readonly value: string | number;
    readonly regex: RegExp;
    /** Percentage. */
    readonly confidence: number;
    /** A template with back references, or empty. */
    readonly version: string;
  };

  /** A list of patterns, or lists by name; selector patterns are nested by the kind of signal. */
  export type EnginePatterns = EnginePattern[] | { [name: string]: EnginePattern[] };

  export type EngineDetection = {
    technology: { readonly name: string };
    pattern: EnginePattern & { readonly type: string; readonly match: string };
    version: string;
  };

  export type EngineTechnology = { readonly name: string; readonly [type: string]: unknown };

  type Texts = Readonly<Record<string, readonly string[]>>;

  /** The inputs of one run; absent ones are skipped. */
  export type EngineItems = {
    readonly [type in "certIssuer" | "css" | "html" | "robots" | "scripts" | "text" | "url" | "xhr"]?: string;
  } & {
    readonly [type in "cookies" | "dns" | "headers" | "meta"]?: Texts;
  } & { readonly scriptSrc?: readonly string[] };

  const engine: {
    technologies: EngineTechnology[];
    requires: { name: string; technologies: EngineTechnology[] }[];
    categoryRequires: { categoryId: number; technologies: EngineTechnology[] }[];
    setTechnologies(data: object): void;
    setCategories(data: object): void;
    analyze(items: EngineItems, technologies?: readonly EngineTechnology[]): EngineDetection[];
    resolve(detections: readonly EngineDetection[]): { name: string; confidence: number; version: string }[];
    parsePattern(pattern: string | number): EnginePattern;
    transformPatterns(patterns: unknown, caseSensitive?: boolean, isRegex?: boolean): EnginePatterns;
    analyzeOneToOne(technology: EngineTechnology, type: string, value: string): EngineDetection[];
    analyzeOneToMany(
      technology: EngineTechnology,
      type: string,
      values: readonly string[],
    ): EngineDetection[];
    analyzeManyToMany(technology: EngineTechnology, type: string, values: Texts): EngineDetection[];
  };
  export default engine;
}
