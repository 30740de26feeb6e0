import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convertDocument } from "../../../../src/pages/content/html-to-markdown.ts";
import { parseHtml } from "../../../../src/pages/technologies/html-parser.ts";

const convert = (html: string, form: "markdown" | "text" = "markdown") =>
  convertDocument(parseHtml(html), { form, url: "https://example.com/a/b" }).trimEnd();

describe("the Markdown of a page", () => {
  it.each([
    ["<h1> A <em>b</em>\n c</h1><h3></h3>", "# A *b* c"],
    ["<p>one</p>two<p>three", "one\n\ntwo\n\nthree"],
    ["a <b> bold </b>word", "a **bold** word"],
    ["<b></b><a href='/x'></a>x", "x"],
    ["<a href='../c?d=(1)'>go</a>", "[go](https://example.com/c?d=%281%29)"],
    ["<a href='javascript:alert(1)'>go</a> <a href='#x'>here</a>", "go here"],
    ["<img src=/p.png alt='a [b]'>", "![a b](https://example.com/p.png)"],
    ["<a href=/x><div><h2>Card</h2><p>text</p></div></a>", "## Card\n\ntext"],
    ["<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"],
    ["<ol start=9><li>a<li><p>b</p><p>c</p></ol>", "9. a\n10. b\n    c"],
    ["<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"],
    ["<pre><code>x  = *1*\n  y\n</code></pre>", "```\nx  = *1*\n  y\n```"],
    ["<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"],
    ["use <code>a`b*c</code>", "use ``a`b*c``"],
    ["use <code>`a`</code> or <code> \n</code>", "use `` `a` `` or"],
    ["one<br>two<hr>", "one\ntwo\n\n---"],
    ["<table><thead><tr><th>a<th>b|c</thead><tr><td>1</table>", "| a | b\\|c |\n| --- | --- |\n| 1 |  |"],
    ["<table><tr><td><p>x</p><tr><td>y</table>", "x\n\ny"],
    ["1 * 2 _x_ [y] &lt;z&gt;", "1 \\* 2 \\_x\\_ \\[y\\] \\<z>"],
    ["A&amp;B &amp;lt; &amp;#60; ~~x~~", "A&B \\&lt; \\&#60; \\~\\~x\\~\\~"],
    ["<p># a<p>1. b<p>- c<p>+ d<p>&gt; e<p>2) f", "\\# a\n\n1\\. b\n\n\\- c\n\n\\+ d\n\n\\> e\n\n2\\) f"],
    ["<p>a<br>---<br>===<p>#b 1.5 -3", "a\n\\---\n\\===\n\n#b 1.5 -3"],
    ["<title>t</title><script>s</script><style>c</style><noscript>n</noscript>text", "text"],
    ["", ""],
  ])("is correct for %j", (html, expected) => {
    expect(convert(html)).toBe(expected);
  });

  it("has no marks as plain text", () => {
    const html =
      "<h1>T</h1><p>a <b>b</b> <a href=/x>c</a><img src=x alt=no></p><ul><li>d</ul><table><tr><td>1<td>2</table>";
    expect(convert(html, "text")).toBe("T\n\na b c\n\n- d\n\n1\t2");
  });

  it("has unescaped characters as plain text", () => {
    expect(convert("<p># a<p>1. &lt;b&gt; *c*<pre>```</pre>", "text")).toBe("# a\n\n1. <b> *c*\n\n```");
  });

  it("is made of any markup, also deep and long", () => {
    const tag = fc.constantFrom(
      "<div>",
      "<ul>",
      "<li>",
      "<b>",
      "<table>",
      "<tr>",
      "<td>",
      "</b>",
      "</ul>",
      "x ",
      "<p>",
      "<a href=/>",
    );
    fc.assert(
      fc.property(fc.array(tag, { maxLength: 200 }), (tags) => {
        expect(typeof convert(tags.join(""))).toBe("string");
      }),
    );
    const deep = `${"<blockquote>".repeat(2_000)}x`;
    expect(convert(deep)).toContain("x");
    expect(convert("<b>".repeat(500) + "x".repeat(500_000)).length).toBeLessThan(600_000);
    const lines = "<p>x".repeat(50_000);
    expect(convert("<blockquote>".repeat(500) + lines).length).toBeLessThan(3_000_000);
  });
});
