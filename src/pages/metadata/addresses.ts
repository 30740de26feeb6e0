/** Maximum length of an address, in UTF-16 code units; longer ones are omitted. */
const MAX_ADDRESS = 2_048;
/** Maximum number of addresses to resolve: the cost of each grows with the length of the page's base address. */
const MAX_RESOLVED = 490;
/** Maximum number of `Link` headers to read, and of links in each. */
const MAX_LINKS = 50;

/** Resolves the addresses of one page, up to a maximum number. */
export class AddressResolver {
  readonly #base: string;
  /** Starts at 1 for the base address itself. */
  #count = 1;

  /** @param base the address against which others are resolved */
  constructor(base: string) {
    this.#base = base;
  }

  /** The absolute http(s) address; null if it is invalid or too long, or the maximum number is reached. */
  resolve(address: string | undefined): string | null {
    if (address === undefined || ++this.#count > MAX_RESOLVED) return null;
    return toAbsoluteUrl(address, this.#base);
  }
}

/** The absolute http(s) address; null if it is invalid or too long. */
export function toAbsoluteUrl(address: string, base: string): string | null {
  if (address.trim() === "" || !URL.canParse(address, base)) return null;
  const { protocol, href } = new URL(address, base);
  return /^https?:$/.test(protocol) && href.length <= MAX_ADDRESS ? href : null;
}

/** A link of a `Link` header (RFC 8288). */
export interface HeaderLink {
  readonly url: string;
  /** Relation types in lower case. */
  readonly kinds: readonly string[];
  readonly type: string;
  readonly title: string;
}

/** The links of `Link` headers whose address is valid. */
export function parseLinkHeaders(headers: readonly string[], base: string): HeaderLink[] {
  const links = headers
    .slice(0, MAX_LINKS)
    .flatMap((text) => [...text.slice(0, 4 * MAX_ADDRESS).matchAll(/<([^<>]*)>([^<]*)/g)]);
  return links.flatMap(([, address = "", parameters = ""]) => {
    const url = toAbsoluteUrl(address, base);
    if (url === null) return [];
    // The names are read in a second step: a single regular expression would backtrack.
    const kinds = (readParameter(parameters, "rel") ?? "").toLowerCase().split(/\s+/);
    const type = readParameter(parameters, "type")?.toLowerCase() ?? "";
    return [{ url, kinds, type, title: readParameter(parameters, "title") ?? "" }];
  });
}

/** The first parameter with a name; the first of several counts. */
function readParameter(parameters: string, name: "rel" | "type" | "title"): string | undefined {
  const [, quoted, unquoted] = PARAMETERS[name].exec(parameters) ?? [];
  return quoted ?? unquoted;
}

const PARAMETERS = {
  rel: /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i,
  type: /;\s*type\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i,
  title: /;\s*title\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i,
} as const;
