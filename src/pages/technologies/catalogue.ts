import engine, { type EnginePattern, type EnginePatterns } from "wappalyzer-core";

/** Fields whose patterns are matched against one text. */
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

/** Fields whose patterns are matched against named texts. */
export type KeyedField = "cookies" | "dns" | "headers" | "js" | "meta";

type Pattern = string | number;

/**
 * Literals that any match contains: 0 if unknown, 1 for the pattern itself without escapes, otherwise one literal of
 * each group.
 */
type Literals = 0 | 1 | readonly (string | readonly string[])[];

/** One technology in the format of the build script. */
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
  /** Maximum match length of each pattern, for fields with long texts; 0 if the pattern must see the whole text. */
  readonly spans?: { readonly [field in TextField]?: readonly number[] };
  readonly literals?: { readonly [field in TextField | "dom"]?: readonly Literals[] };
} & { readonly [field in TextField]?: readonly Pattern[] } & {
  readonly [field in KeyedField]?: Readonly<Record<string, readonly Pattern[]>>;
};

type FingerprintFile = {
  readonly categories: readonly (readonly [id: number, name: string, priority: number])[];
  readonly technologies: Readonly<Record<string, Fingerprint>>;
};

/** A technology that another one implies. */
export type Implied = { readonly name: string; readonly confidence: number; readonly version: string };

/** A technology. Its patterns are compiled on first use. */
export class Technology {
  readonly name: string;
  /** Index in the data; detections are sorted by it. */
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

  /** Whether it counts only if another technology, or one of a category, is also found. */
  get isConditional(): boolean {
    return this.fingerprint.requires !== undefined || this.fingerprint.requiresCategory !== undefined;
  }

  /** Names of technologies; one of them must be found. */
  get requires(): readonly string[] {
    return names(this.fingerprint.requires);
  }

  /** Ids of categories; a technology of one of them must be found. */
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

  /** One pattern of a text field, compiled; empty if it does not compile, so that an invalid pattern affects no page. */
  pattern(field: TextField, index: number): readonly EnginePattern[] {
    const key = `${field} ${index}`;
    let compiled = this.#patterns.get(key);
    if (compiled === undefined) {
      compiled = compile(this.fingerprint[field]?.[index]);
      this.#patterns.set(key, compiled);
    }
    return compiled;
  }

  /** All patterns of a keyed field or of the selectors; empty if one of them does not compile. */
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
 * Parses the text that `scripts/build-technologies.mjs` writes.
 *
 * @throws SyntaxError if it is not JSON
 */
export function parseCatalogue(text: string): Catalogue {
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
 * The groups of literals of each pattern of a field, in the order of the patterns. Any text that a pattern matches
 * contains at least one literal of each group. Empty if nothing is known.
 */
export function getLiteralGroups(
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
