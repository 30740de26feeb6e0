import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { slimFingerprints } from "../../../../scripts/build-technologies.mjs";
import {
  createProbeExpression,
  parseProbeResult,
  TechnologyDetector,
} from "../../../../src/pages/technologies/index.ts";

const technologies = {
  Query: { cats: [], website: "", js: { "query.fn.version": "^([\\d.]+)$\\;version:\\1", query: "" } },
  Other: { cats: [], website: "", js: { other: "" } },
  Rooted: { cats: [], website: "", dom: { "#root": { properties: { _root: "" }, exists: "" } } },
  Labelled: {
    cats: [],
    website: "",
    dom: { "a.label": { text: "label (\\d)\\;version:\\1", attributes: { href: "made-here" } } },
  },
};
const detector = new TechnologyDetector(slimFingerprints(technologies, {}));

/** Evaluates the probe as a page would, in a realm with only these globals. */
function probe(
  page: { globals?: object; elements?: Record<string, unknown[]> },
  part?: "globals" | "selectors" | "both",
) {
  const { globals = {}, elements = {} } = page;
  const document = { querySelectorAll: (selector: string) => elements[selector] ?? [] };
  const realm = { document, performance: { now: () => 0 }, ...globals };
  return parseProbeResult(
    JSON.parse(JSON.stringify(runInNewContext(createProbeExpression(detector.probeArgument, part), realm))),
  );
}

function element(attributes: Record<string, string>, textContent = "", own: object = {}) {
  return { ...own, textContent, getAttribute: (name: string) => attributes[name] ?? null };
}

describe("the probe", () => {
  it("reads globals and their values", () => {
    const found = probe({ globals: { query: { fn: { version: "3.7" } } } });
    expect(found.js).toEqual(
      expect.arrayContaining([
        { chain: "query.fn.version", value: "3.7" },
        { chain: "query", value: "true" },
      ]),
    );
    expect(detector.detect(found)).toMatchObject([{ name: "Query", version: "3.7" }]);
  });

  it("does not take inherited or undefined values for globals", () => {
    expect(
      probe({ globals: { other: undefined, query: Object.create({ fn: { version: "1" } }) } }).js,
    ).toEqual([{ chain: "query", value: "true" }]);
  });

  it("reads elements, their text, attributes and properties", () => {
    const elements = {
      "#root": [element({}, "", { _root: {} })],
      "a.label": [element({ href: "https://made-here.example" }, " label 4 "), element({}, "")],
    };
    const found = detector.detect(probe({ elements }));
    expect(found.map(({ name, version }) => [name, version])).toEqual([
      ["Labelled", "4"],
      ["Rooted", ""],
    ]);
  });

  it("is split between the two worlds, which together find each match once", () => {
    const page = { globals: { other: 1 }, elements: { "#root": [element({}, "", { _root: 1 })] } };
    const own = probe(page, "globals");
    expect(own.js).toEqual([{ chain: "other", value: "1" }]);
    expect(own.dom).toEqual([{ selector: "#root", kind: "properties", name: "_root", value: "1" }]);
    const isolated = probe({ elements: { "#root": [element({})] } }, "selectors");
    expect(isolated).toEqual({ js: [], dom: [{ selector: "#root", kind: "exists", name: "", value: "" }] });
  });

  it("continues after an error of the page, and limits the size of its result", () => {
    const hostile = {
      get query(): unknown {
        throw new Error("no");
      },
      other: "x".repeat(100_000),
    };
    const realm = Object.defineProperties({}, Object.getOwnPropertyDescriptors(hostile));
    const globals = Object.defineProperties(
      { document: undefined, performance: { now: () => 0 } },
      Object.getOwnPropertyDescriptors(realm),
    );
    const found = parseProbeResult(
      runInNewContext(
        `JSON.parse(JSON.stringify(${createProbeExpression(detector.probeArgument)}))`,
        globals,
      ),
    );
    expect(found.dom).toEqual([]);
    expect(found.js).toEqual([{ chain: "other", value: "x".repeat(1000) }]);
  });

  it("stops at its time limit", () => {
    let now = 0;
    const performance = { now: () => (now += 100) };
    expect(probe({ globals: { other: 1, query: 1, performance } }).js.length).toBeGreaterThan(0);
    const expression = createProbeExpression(detector.probeArgument, "both", 50);
    const result = runInNewContext(expression, { other: 1, query: 1, performance, document: {} });
    expect(parseProbeResult(JSON.parse(JSON.stringify(result))).js).toEqual([]);
  });

  it("uses no names from outside the probe", () => {
    expect(createProbeExpression(detector.probeArgument)).not.toMatch(/__name|__vite|cov_/);
  });
});

describe("the result of a probe", () => {
  it.each([
    undefined,
    null,
    1,
    "x",
    {},
    { globals: [], found: [[1]] },
    { globals: [["a"]], found: [] },
    { globals: [], found: [["#root", "other", "", ""]] },
    { globals: [], found: [["#root", "text", "", 1]] },
    { globals: Array(9000).fill(["a", "b"]), found: [] },
  ])("is empty if malformed: %j", (result) => {
    expect(parseProbeResult(result)).toEqual({ js: [], dom: [] });
  });

  it("contains a repeated match once", () => {
    const same = ["#root", "exists", "", ""];
    expect(parseProbeResult({ globals: [], found: [same, same] }).dom).toHaveLength(1);
  });
});
