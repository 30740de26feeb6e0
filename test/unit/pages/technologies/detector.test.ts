import { describe, expect, it, vi } from "vitest";
import engine, { type EnginePattern } from "wappalyzer-core";
import { slimFingerprints } from "../../../../scripts/build-technologies.mjs";
import {
  createLazyDetector,
  type PageSignals,
  TechnologyDetector,
  toTechnologiesResult,
} from "../../../../src/pages/technologies/index.ts";
import { SLOW_PAGES } from "../../../support/slow-pages.ts";
import { fingerprints } from "./plain-engine.ts";

const categories = {
  1: { name: "CMS", priority: 1, groups: [3] },
  6: { name: "Shops", priority: 1 },
  27: { name: "Languages", priority: 4 },
  87: { name: "Plugins", priority: 8 },
};
const technologies = {
  Press: {
    cats: [1],
    icon: "Press.svg",
    website: "https://press.example",
    html: ['<div class="press">\\;confidence:50', "press-theme\\;confidence:30"],
    meta: { Generator: "^Press ?([\\d.]+)?\\;version:\\1" },
    implies: ["Lang\\;confidence:40\\;version:8"],
    excludes: "Rival",
    js: { "press.version": "^([\\d.]+)$\\;version:\\1" },
  },
  Rival: { cats: [1], icon: "other.png", website: "https://rival.example", html: "press-theme" },
  Lang: { cats: [27], icon: "", website: "https://lang.example", implies: "Base" },
  Base: { cats: [27], website: "https://base.example", headers: { "X-Base": "" } },
  "Press Form": { cats: [87], website: "https://form.example", requires: "Press", scripts: "form\\.start" },
  "Form Style": {
    cats: [87],
    website: "https://style.example",
    requires: ["Press Form", "Nothing Else"],
    html: "form-style",
  },
  "Nothing Else": { cats: [87], website: "", html: "never" },
  "Shop Pay": { cats: [87], website: "https://pay.example", requiresCategory: 6, html: "pay-button" },
  Shop: {
    cats: [6],
    website: "https://shop.example",
    cookies: { shop_id: "" },
    dom: { "a[href*='shop']": { attributes: { href: "shop/v(\\d)\\;version:\\1" } } },
  },
  Broken: {
    cats: [1],
    website: "",
    html: ["bro(ken", "unbroken"],
    meta: { generator: "*" },
    implies: "Missing",
  },
};
const detector = new TechnologyDetector(slimFingerprints(technologies, categories));
const names = (signals: PageSignals) => detector.detect(signals).map(({ name }) => name);

describe("technology detection", () => {
  it("adds up confidence, and describes a technology as in the contract", () => {
    const [press] = detector.detect({ html: '<div class="press"> press-theme' });
    expect(press).toEqual({
      name: "Press",
      confidence: "80",
      version: "",
      icon: "Press.svg",
      website: "https://press.example",
      categories: ["CMS"],
    });
    expect(
      detector.detect({ html: '<div class="press">', meta: { GENERATOR: ["Press 6"] } })[0]?.confidence,
    ).toBe("100");
  });

  it("returns the longest plausible version", () => {
    const version = (generator: string) => detector.detect({ meta: { generator: [generator] } })[0]?.version;
    expect(version("Press 6.4.2")).toBe("6.4.2");
    expect(version("Press")).toBe("");
    expect(version("Press 20240101")).toBe("");
    expect(
      detector.detect({ meta: { generator: ["Press 6"] }, js: [{ chain: "press.version", value: "6.4" }] })[0]
        ?.version,
    ).toBe("6.4");
  });

  it("adds implied technologies, also indirect ones, with at most the confidence of their cause", () => {
    const found = detector.detect({ html: "press-theme" });
    expect(found.map(({ name, confidence, version }) => [name, confidence, version])).toEqual([
      ["Press", "30", ""],
      ["Base", "30", ""],
      ["Lang", "30", "8"],
    ]);
  });

  it("omits excluded technologies", () => {
    expect(names({ html: "press-theme" })).not.toContain("Rival");
  });

  it("counts a technology only if those that it requires are found, also indirectly", () => {
    const conditional = { html: "form-style pay-button", inlineScripts: ["form.start()"] };
    expect(names(conditional)).toEqual([]);
    expect(names({ ...conditional, meta: { generator: ["Press"] } })).toEqual([
      "Press",
      "Base",
      "Lang",
      "Form Style",
      "Press Form",
    ]);
    expect(names({ html: "pay-button", cookies: { SHOP_ID: ["1"] } })).toEqual(["Shop", "Shop Pay"]);
  });

  it("orders by the priority of the category, then by name", () => {
    const found = names({ html: "press-theme", cookies: { shop_id: ["1"] }, headers: { "x-base": ["1"] } });
    expect(found).toEqual(["Press", "Shop", "Base", "Lang"]);
  });

  it("reads the attributes that selectors found", () => {
    const dom = [
      { selector: "a[href*='shop']", kind: "attributes", name: "href", value: "/shop/v3" } as const,
    ];
    expect(detector.detect({ dom })).toMatchObject([{ name: "Shop", version: "3" }]);
    expect(names({ dom: [{ selector: "a[href*='shop']", kind: "exists", name: "", value: "" }] })).toEqual(
      [],
    );
    expect(names({ dom: [{ selector: "constructor", kind: "exists", name: "", value: "" }] })).toEqual([]);
  });

  it("uses the other patterns of a technology that has a broken one", () => {
    expect(names({ html: "bro(ken unbroken", meta: { generator: ["*"] } })).toEqual(["Broken"]);
  });

  it("ignores a broken pattern in the catalogue", () => {
    const text = JSON.stringify({
      categories: [[1, "CMS", 1]],
      technologies: {
        A: { cats: [1], website: "", html: ["(", "fine"], literals: { html: [0, 0] } },
        B: { cats: [1], website: "", meta: { x: ["("] } },
      },
    });
    const found = new TechnologyDetector(text).detect({ html: "( fine", meta: { x: ["("] } });
    expect(found.map(({ name }) => name)).toEqual(["A"]);
  });

  it("uses the default icon if a technology has none", () => {
    const icons = new Map(detector.detect({ html: "press-theme" }).map(({ name, icon }) => [name, icon]));
    expect(icons.get("Lang")).toBe("default.svg");
  });

  it("finds nothing without signals", () => {
    expect(detector.detect({})).toEqual([]);
  });
});

/** Patterns whose time grows with a high power of a tag's or an address's length: two slow repetitions around a version. */
const STEEP = /govuk|bootstrap/;

describe("with the real fingerprints", () => {
  const real = new TechnologyDetector(fingerprints);

  it("recognizes a blog, its plugin, its language and its server", () => {
    const found = real.detect({
      url: "https://example.com/",
      html: '<link rel="stylesheet" href="/wp-content/plugins/woocommerce/x.css"><link href="/wp-content/themes/x/style.css">',
      meta: { generator: ["WordPress 6.4.2", "WooCommerce 8.1.0"] },
      headers: { server: ["nginx/1.25.1"] },
    });
    const byName = new Map(found.map((technology) => [technology.name, technology]));
    expect(byName.get("WordPress")).toMatchObject({
      version: "6.4.2",
      confidence: "100",
      icon: "WordPress.svg",
    });
    expect(byName.get("WordPress")?.categories).toContain("CMS");
    expect(byName.get("WooCommerce")?.version).toBe("8.1.0");
    expect(byName.get("Nginx")?.version).toBe("1.25.1");
    expect([...byName.keys()]).toEqual(expect.arrayContaining(["PHP", "MySQL"]));
  });

  // `npm run bench -- technologies` measures their time.
  it.each(Object.entries(SLOW_PAGES))("tries few characters of %s, and no slow pattern", (_what, page) => {
    const tried: { readonly pattern: string; readonly characters: number }[] = [];
    const note = (technology: object, field: string, text: string) => {
      const patterns: EnginePattern[] = Reflect.get(technology, field);
      for (const { regex } of patterns) tried.push({ pattern: regex.source, characters: text.length });
    };
    const one = vi.spyOn(engine, "analyzeOneToOne").mockImplementation((technology, field, text) => {
      note(technology, field, text);
      return [];
    });
    const many = vi.spyOn(engine, "analyzeOneToMany").mockImplementation((technology, field, texts) => {
      for (const text of texts) note(technology, field, text);
      return [];
    });
    try {
      real.detect(page);
    } finally {
      one.mockRestore();
      many.mockRestore();
    }
    expect(tried.map(({ pattern }) => pattern).filter((pattern) => STEEP.test(pattern))).toEqual([]);
    expect(tried.reduce((sum, { characters }) => sum + characters, 0)).toBeLessThan(500_000);
  });

  it("finds the version in an ordinary link, although its pattern is slow", () => {
    const link = real.detect({
      html: '<link rel="stylesheet" href="https://cdn.example.com/bootstrap/5.3.2/css/bootstrap.min.css">',
    });
    expect(link).toMatchObject([{ name: "Bootstrap", version: "5.3.2" }]);
    const script = real.detect({
      scriptSrc: ["https://cdn.example.com/npm/bootstrap@5.3.2/dist/js/bootstrap.bundle.min.js"],
    });
    expect(script.map(({ name }) => name)).toContain("Bootstrap");
  });
});

describe("the shared detector", () => {
  it("is created once", async () => {
    const load = vi.fn(async () => slimFingerprints(technologies, categories));
    const source = createLazyDetector(load);
    const [a, b] = await Promise.all([source(), source()]);
    expect(a).toBe(b);
    load.mockClear();
    expect(await source()).toBe(a);
    expect(load).not.toHaveBeenCalled();
  });

  it("does not depend on a load of another request that never ends", async () => {
    const load = vi.fn<() => Promise<string>>().mockReturnValueOnce(new Promise(() => {}));
    load.mockResolvedValue(slimFingerprints(technologies, categories));
    const source = createLazyDetector(load);
    void source();
    expect(await source()).toBeInstanceOf(TechnologyDetector);
  });

  it("is loaded at the first call, and again after a failure", async () => {
    const load = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error("no file"));
    load.mockResolvedValue(slimFingerprints(technologies, categories));
    const source = createLazyDetector(load);
    expect(load).not.toHaveBeenCalled();
    await expect(source()).rejects.toThrow("no file");
    expect(await source()).toBeInstanceOf(TechnologyDetector);
  });
});

describe("the answer with technologies", () => {
  it("has the fields of the contract and no others", () => {
    const result = toTechnologiesResult({
      finalUrl: "https://www.example.com/",
      requestedUrl: "http://example.com/",
      incomplete: null,
      technologies: detector.detect({ cookies: { shop_id: ["1"] } }),
    });
    expect(result).toEqual({
      url: "https://www.example.com/",
      originalUrl: "http://example.com/",
      applications: [
        {
          name: "Shop",
          confidence: "100",
          version: "",
          icon: "default.svg",
          website: "https://shop.example",
          categories: ["Shops"],
        },
      ],
    });
  });
});
