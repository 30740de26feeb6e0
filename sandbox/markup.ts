/** A tool call for the sandbox to write. */
export interface SandboxCall {
  readonly name: string;
  /** Argument values by parameter name. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** Spelling of the markup's parts. A drift form changes some of them. */
interface Spelling {
  readonly open: (local: string, attribute: string) => string;
  readonly close: (local: string) => string;
  readonly wrapper: { readonly open: string; readonly close: string };
  readonly attribute: (name: string) => string;
  readonly cdata: readonly [open: string, close: string];
}

const canonical: Spelling = {
  open: (local, attribute) => `<|TCML|${local}${attribute}>`,
  close: (local) => `</|TCML|${local}>`,
  wrapper: { open: "<|TCML|tool_calls>", close: "</|TCML|tool_calls>" },
  attribute: (name) => ` name="${name}"`,
  cdata: ["<![CDATA[", "]]>"],
};

/** Uses the same delimiters around every local name: `opening` local-name attribute `>`. */
function uniformSpelling(
  opening: string,
  closing: string,
  local: (name: string) => string = (name) => name,
): Spelling {
  const open = (name: string, attribute: string): string => `${opening}${local(name)}${attribute}>`;
  const close = (name: string): string => `${closing}${local(name)}>`;
  return {
    ...canonical,
    open,
    close,
    wrapper: { open: open("tool_calls", ""), close: close("tool_calls") },
  };
}

const pascal = (name: string): string =>
  name.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
const dashed = (name: string): string => name.replaceAll("_", "-");

const SPELLINGS: Readonly<Record<string, Spelling>> = {
  canonical,
  "alias-lower": uniformSpelling("<tcml|", "</tcml|"),
  "alias-bare": uniformSpelling("<|", "</|"),
  plain: uniformSpelling("<", "</"),
  "missing-separator": uniformSpelling("<|TCML ", "</|TCML "),
  "no-leading-separator": uniformSpelling("<TCML|", "</TCML|"),
  space: uniformSpelling("<tcml ", "</tcml "),
  "run-together": uniformSpelling("<tcml", "</tcml"),
  dashes: uniformSpelling("<tcml-", "</tcml-", dashed),
  pascal: uniformSpelling("<Tcml", "</Tcml", pascal),
  "pascal-local": uniformSpelling("<|TCML|", "</|TCML|", pascal),
  upper: uniformSpelling("<|TCML|", "</|TCML|", (name) => name.toUpperCase()),
  control: uniformSpelling("<\u0001TCML\u0001", "</\u0001TCML\u0001"),
  "unit-separator": uniformSpelling("<\u001fTCML\u001f", "</\u001fTCML\u001f"),
  "zero-width": uniformSpelling("<|\u200bTCML|\u200b", "</|\u200bTCML|\u200b"),
  "fullwidth-pipe": uniformSpelling("<\uff5cTCML\uff5c", "</\uff5cTCML\uff5c"),
  "fullwidth-exclamation": uniformSpelling("<\uff01TCML\uff01", "</\uff01TCML\uff01"),
  enumeration: uniformSpelling("<\u3001TCML\u3001", "</\u3001TCML\u3001"),
  "double-bracket": uniformSpelling("<<|TCML|", "<</|TCML|"),
  foreign: uniformSpelling("<|XYZ|", "</|XYZ|"),
  "foreign-word": uniformSpelling("<vendor|", "</vendor|"),
  cjk: {
    ...canonical,
    open: (local, attribute) => `\u3008|TCML|${local}${attribute}\u3009`,
    close: (local) => `\u3008/|TCML|${local}\u3009`,
    wrapper: { open: "\u3008|TCML|tool_calls\u3009", close: "\u3008/|TCML|tool_calls\u3009" },
  },
  "fullwidth-brackets": {
    ...canonical,
    open: (local, attribute) => `\uff1c|TCML|${local}${attribute}\uff1e`,
    close: (local) => `\uff1c/|TCML|${local}\uff1e`,
    wrapper: { open: "\uff1c|TCML|tool_calls\uff1e", close: "\uff1c/|TCML|tool_calls\uff1e" },
  },
  "curly-quotes": { ...canonical, attribute: (name) => ` name=\u201c${name}\u201d` },
  "single-quotes": { ...canonical, attribute: (name) => ` name='${name}'` },
  "trailing-separator": {
    ...canonical,
    open: (local, attribute) => `<|TCML|${local}${attribute}|>`,
    close: (local) => `</|TCML|${local}|>`,
    wrapper: { open: "<|TCML|tool_calls|>", close: "</|TCML|tool_calls|>" },
  },
  "cdata-pipe": { ...canonical, cdata: ["<![CDATA|", "]]>"] },
  "cdata-shell": { ...canonical, cdata: ["<|![CDATA[", "]]>"] },
  "cdata-space": { ...canonical, cdata: ["<! [CDATA[", "]]>"] },
  "cdata-fullwidth": { ...canonical, cdata: ["<\uff01[CDATA[", "]]>"] },
  "unclosed-cdata": { ...canonical, cdata: ["<![CDATA[", ""] },
  "no-cdata": { ...canonical, cdata: ["", ""] },
  "missing-opener": { ...canonical, wrapper: { ...canonical.wrapper, open: "" } },
  "missing-closer": { ...canonical, wrapper: { ...canonical.wrapper, close: "" } },
  "bare-invoke": { ...canonical, wrapper: { open: "", close: "" } },
};

/** Forms for `[[drift:FORM]]`. The markup rules do not recognize `bare-invoke` as a call. */
export const DRIFT_FORMS: readonly string[] = Object.keys(SPELLINGS);

/** Writes all calls into one wrapper, in the given drift form. Unknown forms are written canonically. */
export function writeCalls(calls: readonly SandboxCall[], form = "canonical"): string {
  const spelling = SPELLINGS[form] ?? canonical;
  const invokes = calls.map((call) => {
    const parameters = Object.entries(call.args).map(
      ([name, value]) =>
        `${spelling.open("parameter", spelling.attribute(name))}${writeValue(value, spelling)}${spelling.close("parameter")}`,
    );
    return `${spelling.open("invoke", spelling.attribute(call.name))}${parameters.join("")}${spelling.close("invoke")}`;
  });
  return `${spelling.wrapper.open}${invokes.join("")}${spelling.wrapper.close}`;
}

/** Writes strings as they are, other values as JSON, both in CDATA. Splits a `]]>` inside over two sections. */
function writeValue(value: unknown, spelling: Spelling): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const [open, close] = spelling.cdata;
  return `${open}${text.replaceAll("]]>", "]]]]><![CDATA[>")}${close}`;
}
