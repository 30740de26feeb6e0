import engine, { type EnginePattern, type EnginePatterns } from "wappalyzer-core";

/** Fields whose patterns are applied to a text. */
export type TextField =
  | "certIssuer"
  | "css"
  | "html"
  | "robots"
  | "scriptSrc"
  | "scripts"
  | "text"
  | "url"
  | "xhr";

/** Fields whose patterns are applied to the texts of a name. */
export type KeyedField = "cookies" | "dns" | "headers" | "js" | "meta";

type Pattern = string | number;

/** What a pattern cannot match without: 0 for unknown, 1 for the pattern itself less escapes, or one literal of each group. */
type Literals = 0 | 1 | readonly (string | readonly string[])[];

/** One technology as the build writes it. */
type Fingerprint = {
  readonly cats: readonly number[];
  readonly website: string;
  readonly icon?: string;
  readonly excludes?: readonly Pattern[];
  readonly implies?: readonly Pattern[];
  readonly requires?: readonly Pattern[];
  readonly requiresCategory?: readonly Pattern[];
  readonly dom?: Readonly<
    Record<string, Readonly<Record<string, Pattern | Readonly<Record<string, Pattern>>>>>
  >;
  /** For the patterns of fields with long texts, how long a match can be; 0 when the pattern must see the whole text. */
  readonly spans?: { readonly [field in TextField]?: readonly number[] };
  readonly literals?: { readonly [field in TextField | "dom"]?: readonly Literals[] };
} & { readonly [field in TextField]?: readonly Pattern[] } & {
  readonly [field in KeyedField]?: Readonly<Record<string, readonly Pattern[]>>;
};

type FingerprintFile = {
  readonly categories: readonly (readonly [id: number, name: string, priority: number])[];
  readonly technologies: Readonly<Record<string, Fingerprint>>;
};

/** A technology that another one brings along. */
export type Implied = { readonly name: string; readonly confidence: number; readonly version: string };

/** A technology, with patterns that are compiled when they are first needed. */
export class Technology {
  readonly name: string;
  /** Position in the data, which is the order of detections. */
  readonly order: number;
  readonly fingerprint: Fingerprint;
  readonly #patterns = new Map<string, readonly EnginePattern[]>();
  readonly #keyed = new Map<string, EnginePatterns>();

  constructor(name: string, order: number, fingerprint: Fingerprint) {
    this.name = name;
    this.order = order;
    this.fingerprint = fingerprint;
  }

  /** Icon file name. */
  get icon(): string {
    return this.fingerprint.icon === undefined ? `${this.name}.svg` : this.fingerprint.icon || "default.svg";
  }

  /** Whether it is looked for only once another technology, or one of a category, is found. */
  get isConditional(): boolean {
    return this.fingerprint.requires !== undefined || this.fingerprint.requiresCategory !== undefined;
  }

  /** Names of technologies of which one makes this one be looked for. */
  get requires(): readonly string[] {
    return names(this.fingerprint.requires);
  }

  /** Category ids of which one makes this one be looked for. */
  get requiresCategory(): readonly number[] {
    return (this.fingerprint.requiresCategory ?? []).map(Number);
  }

  get excludes(): readonly string[] {
    return names(this.fingerprint.excludes);
  }

  get implies(): readonly Implied[] {
    return (this.fingerprint.implies ?? []).map((text) => {
      const { value, confidence, version } = engine.parsePattern(text);
      return { name: String(value), confidence, version };
    });
  }

  /** One pattern of a text field; nothing if it does not compile, so that a bad one spoils no page. */
  pattern(field: TextField, index: number): readonly EnginePattern[] {
    const key = `${field} ${index}`;
    let compiled = this.#patterns.get(key);
    if (compiled === undefined) {
      compiled = compile(this.fingerprint[field]?.[index]);
      this.#patterns.set(key, compiled);
    }
    return compiled;
  }

  /** All patterns of a field that has them by name, or of the selectors; none if one of them does not compile. */
  keyed(field: KeyedField | "dom"): EnginePatterns {
    let compiled = this.#keyed.get(field);
    if (compiled === undefined) {
      compiled = compileKeyed(this.fingerprint[field], field === "js" || field === "dom", field !== "dom");
      this.#keyed.set(field, compiled);
    }
    return compiled;
  }
}

/** A category of technologies. */
export type Category = { readonly id: number; readonly name: string; readonly priority: number };

/** All technologies and categories. */
export type Catalogue = {
  /** In the order of the data. */
  readonly technologies: readonly Technology[];
  readonly byName: ReadonlyMap<string, Technology>;
  readonly categories: ReadonlyMap<number, Category>;
};

/**
 * Reads the text that `scripts/build-technologies.mjs` writes.
 *
 * @throws SyntaxError when it is not JSON
 */
export function readCatalogue(text: string): Catalogue {
  const file: FingerprintFile = JSON.parse(text);
  const technologies = Object.entries(file.technologies).map(
    ([name, fingerprint], order) => new Technology(name, order, fingerprint),
  );
  return {
    technologies,
    byName: new Map(technologies.map((technology) => [technology.name, technology])),
    categories: new Map(file.categories.map(([id, name, priority]) => [id, { id, name, priority }])),
  };
}

/**
 * The groups of literals of each pattern of a field, in the order of the patterns: of each group one literal is in any text that
 * the pattern matches. No groups when nothing is known.
 */
export function literalGroups(
  technology: Technology,
  field: TextField | "dom",
): readonly (readonly string[])[][] {
  const literals = technology.fingerprint.literals?.[field] ?? [];
  return literals.map((entry, index) => {
    if (entry === 0) return [];
    if (entry !== 1) return entry.map((group) => (typeof group === "string" ? [group] : group));
    const pattern = field === "dom" ? "" : String(technology.fingerprint[field]?.[index] ?? "");
    return [[(pattern.split("\\;")[0] ?? "").replaceAll("\\", "").toLowerCase()]];
  });
}

function compile(pattern: Pattern | undefined): readonly EnginePattern[] {
  if (pattern === undefined) return [];
  try {
    return [engine.parsePattern(pattern)];
  } catch {
    return [];
  }
}

function compileKeyed(patterns: unknown, caseSensitive: boolean, isRegex: boolean): EnginePatterns {
  try {
    return engine.transformPatterns(patterns, caseSensitive, isRegex);
  } catch {
    return {};
  }
}

function names(patterns: readonly Pattern[] = []): readonly string[] {
  return patterns.map((pattern) => String(pattern).split("\\;")[0] ?? "");
}
