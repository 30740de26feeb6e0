import type { ToolDefinition } from "../../../../src/core/conversation/tool.ts";
import { cut, repaired } from "./corpus-repairs.ts";
import { type Found, LOOSE, TYPED } from "./support.ts";

export interface Case {
  name: string;
  input: string;
  /** The text that passes. */
  text: string;
  calls: Found[];
  tools: readonly ToolDefinition[];
  /** What a whole response gives, where that differs from a stream. */
  whole?: { text: string; calls: Found[] };
  /** What a text gives that did not end by itself, where that differs. */
  off?: { text: string; calls: Found[] };
}

const call = (name: string, args: string): Found => ({ name, arguments: args });
const accepted: Case[] = [];
const add = (name: string, input: string, calls: Found[], text = "", tools = LOOSE): void => {
  accepted.push({ name, input, text, calls, tools });
};

/** A call of `run` with the parameter `q`, every tag written by `tag`. */
function shaped(tag: (local: string, close: boolean, attributes: string) => string, body = "v"): string {
  return [
    tag("tool_calls", false, ""),
    tag("invoke", false, ' name="run"'),
    tag("parameter", false, ' name="q"'),
    body,
    tag("parameter", true, ""),
    tag("invoke", true, ""),
    tag("tool_calls", true, ""),
  ].join("");
}
const prefixed = (prefix: string): string =>
  shaped((local, close, attributes) => `<${close ? "/" : ""}${prefix}${local}${attributes}>`);
const V = [call("run", '{"q":"v"}')];

for (const prefix of [
  "",
  "|TCML|",
  "｜TCML｜",
  "tcml|",
  "|",
  "｜",
  "TCML|",
  "|TCML ",
  "|TCML　",
  "TCML",
  "tcml_",
  "tcml-",
  "TCML\u2402",
  "TCML\x02",
  "TCML\x1f",
  "TCML|TCML|",
  "T|TCML|",
  "proto💥",
  "vendor_",
  "abc|",
  "agent - ",
  "、TCML、",
  "！TCML！",
  "tcml:",
  "TCML▁",
  "ＴＣＭＬ|",
  "|ｔＣＭＬ|",
  "\u200b|TCML|",
  "TCML·",
  "¦TCML¦",
  "|tcml|",
  "|Tcml|",
]) {
  add(`shell ${JSON.stringify(prefix)}`, prefixed(prefix), V);
}
add(
  "Pascal case",
  shaped((local, close, attributes) => {
    const pascal = { tool_calls: "ToolCalls", invoke: "Invoke", parameter: "Parameter" }[local] ?? local;
    return `<${close ? "/" : ""}Tcml${pascal}${attributes}>`;
  }),
  V,
);
add(
  "Pascal case without a shell",
  '<ToolCalls><Invoke name="run"><Parameter name="q">v</Parameter></Invoke></ToolCalls>',
  V,
);
add(
  "hyphens",
  '<tcml-tool-calls><tcml-invoke name="run"><tcml-parameter name="q">v</tcml-parameter></tcml-invoke></tcml-tool-calls>',
  V,
);
add(
  "hyphen between the words behind a bar",
  '<|TCML|tool-calls><|TCML|invoke name="run"><|TCML|parameter name="q">v</|TCML|parameter></|TCML|invoke></|TCML|tool-calls>',
  V,
);
add(
  "collapsed behind a shell",
  '<|TCML|toolcalls><|TCML|invoke name="run"><|TCML|parameter name="q">v</|TCML|parameter></|TCML|invoke></|TCML|toolcalls>',
  V,
);
add(
  "upper case",
  '<TOOL_CALLS><INVOKE NAME="run"><PARAMETER NAME="q">v</PARAMETER></INVOKE></TOOL_CALLS>',
  V,
);
add(
  "doubled opener",
  shaped((local, close, attributes) => (close ? `</|TCML|${local}>` : `<<|TCML|${local}${attributes}>`)),
  V,
);
add(
  "trailing bar before the bracket",
  shaped((local, close, attributes) => `<${close ? "/" : ""}|TCML|${local}${attributes}|>`),
  V,
);
add(
  "trailing sign before the bracket",
  shaped((local, close, attributes) => `<${close ? "/" : ""}TCML${local}${attributes}※>`),
  V,
);
add(
  "trailing bar in place of the bracket",
  '<|TCML|tool_calls| \n<|TCML|invoke name="run">\n<|TCML|parameter name="q">v</|TCML|parameter>\n</|TCML|invoke>\n</|TCML|tool_calls>',
  V,
);
add(
  "CJK brackets",
  '〈TCML|tool_calls〉〈TCML|invoke name="run"〉〈TCML|parameter name="q"|〉〈![CDATA[v]]〉〈/TCML|parameter〉〈/TCML|invoke〉〈/TCML|tool_calls〉',
  V,
);
add(
  "ASCII opening tags and CJK closing tags",
  '<TCM|tool_calls>\n<TCM|invoke name="run">\n<TCM|parameter name="q"|>〈![CDATA[v]]〉〈/TCM|parameter〉\n〈/TCM|invoke〉\n〈/TCM|tool_calls〉',
  V,
);
add(
  "full-width everything",
  "＜|TCML　tool_calls＞＜|TCML　invoke　name＝“run”＞＜|TCML　parameter　name＝“q”＞<![CDATA[v]]>＜／TCML|parameter＞＜／TCML|invoke＞＜／TCML|tool_calls＞",
  V,
);
add(
  "full-width exclamation marks, slash inside",
  "<！TCML！tool_calls>\n <！TCML！invoke name=“run”>\n <！TCML！parameter name=“q”><！[CDATA[v]]><！/TCML！parameter>\n <！/TCML！invoke>\n <！/TCML！tool_calls>",
  V,
);
add(
  "enumeration commas",
  '<、TCML、tool_calls>\n<、TCML、invoke name="run">\n<、TCML、parameter name="q"><、[CDATA[v]]><、/TCML、parameter>\n<、/TCML、invoke>\n<、/TCML、tool_calls>',
  V,
);
add(
  "look-alike letters and zero-width characters",
  "<|\u200b\uff34\u0421\u039cL|to\u03bfl\uff3fcalls><|\ufeffTCML|inv\u03bfk\u0435 n\u0430me\uff1d\u201crun\u201d><|\u200bTCML|par\u0430meter n\u0430me\uff1d\u201cq\u201d><![\ufeff\u0421D\u0410T\u0410[v]]></|\u200bTCML|par\u0430meter></|\u200bTCML|inv\u03bfk\u0435></|\u200bTCML|to\u03bfl\uff3fcalls>",
  V,
);
add(
  "mathematical letters",
  '<𝐭𝐨𝐨𝐥_𝐜𝐚𝐥𝐥𝐬><invoke name="run"><parameter name="q">v</parameter></invoke></tool_calls>',
  V,
);
add(
  "mixed shells",
  '<|TCML|tool_calls><invoke name="run"><|TCML|parameter name="q">v</parameter></|TCML|invoke></tool_calls>',
  V,
);
add(
  "separators in place of spaces",
  '<|TCML▁tool_calls|><|TCML▁invoke▁name="run"><|TCML▁parameter▁name="q">v</|TCML▁parameter></|TCML▁invoke></|TCML▁tool_calls＞',
  V,
);
for (const [open, close] of ["“”", "‘’", "''", "„“", "＂＂", "「」"].map((pair) => [...pair])) {
  add(
    `quotes ${open}${close}`,
    `<tool_calls><invoke name=${open}run${close}><parameter name=${open}q${close}>v</parameter></invoke></tool_calls>`,
    V,
  );
}
add("no quotes", "<tool_calls><invoke name=run><parameter name=q>v</parameter></invoke></tool_calls>", V);
add(
  "spaces around =",
  '<tool_calls><invoke name = "run"><parameter name= "q">v</parameter></invoke></tool_calls>',
  V,
);
add(
  "attributes beside the name",
  '<tool_calls id="1"><invoke id="a" name="run" kind="x"><parameter string="true" name="q">v</parameter></invoke></tool_calls>',
  V,
);
add(
  "white space within tags",
  '<tool_calls >\n<invoke\n name="run" >\n<parameter\tname="q" >v</parameter >\n</invoke >\n</tool_calls >',
  V,
);
add(
  "missing opening wrapper",
  'a\n<invoke name="run"><parameter name="q">v</parameter></invoke>\n</tool_calls> b',
  V,
  "a\n b",
);
add(
  "missing opening wrapper before two invokes",
  '<|TCML|invoke name="run"></|TCML|invoke><|TCML|invoke name="run"><|TCML|parameter name="q">v</|TCML|parameter></|TCML|invoke></|TCML|tool_calls>',
  [call("run", "{}"), call("run", '{"q":"v"}')],
);
add(
  "text around and between wrappers",
  `Before.\n${prefixed("|TCML|")}\n\nBetween ${prefixed("")} after.`,
  [...V, ...V],
  "Before.\n\n\nBetween  after.",
);
add(
  "parallel calls",
  '<tool_calls>\n<invoke name="run"><parameter name="q">1</parameter></invoke>\n<invoke name="run"><parameter name="q">2</parameter></invoke>\n</tool_calls>',
  [call("run", '{"q":1}'), call("run", '{"q":2}')],
);
add("no parameters", '<tool_calls><invoke name="now"></invoke></tool_calls>', [call("now", "{}")]);
add("no parameters, white space", '<tool_calls><invoke name="now">\n</invoke></tool_calls>', [
  call("now", "{}"),
]);
add("self-closing invoke", '<tool_calls><invoke name="now"/></tool_calls>', [call("now", "{}")]);
add("self-closing parameter", '<tool_calls><invoke name="run"><parameter name="q"/></invoke></tool_calls>', [
  call("run", '{"q":""}'),
]);
add(
  "self-closing wrapper before a missing opening wrapper",
  '<tool_calls/><invoke name="now"></invoke></tool_calls>',
  [call("now", "{}")],
  "<tool_calls/>",
);
add(
  "a malformed wrapper before a missing opening wrapper",
  '<tool_calls><invoke name="run"><param>1</param></invoke></tool_calls>\n<invoke name="now"></invoke></tool_calls>',
  [call("now", "{}")],
  '<tool_calls><invoke name="run"><param>1</param></invoke></tool_calls>\n',
);
const endless = `<tool_calls a="${"x".repeat(150)}">`;
add("a wrapper too long to be one", prefixed("").replace("<tool_calls>", endless), V, endless);
add(
  "a mention before a missing opening wrapper",
  'Use <tool_calls> so.\n<invoke name="now"></invoke></tool_calls>',
  [call("now", "{}")],
  "Use <tool_calls> so.\n",
);
add(
  "a wrapper within a broken JSON body",
  '<tool_calls><invoke name="run">{oops <tool_calls><invoke name="now"></invoke></tool_calls>',
  [call("now", "{}")],
  '<tool_calls><invoke name="run">{oops ',
);
add("a run of openers", prefixed("").replace("<", "<<<<<<"), V, "<<");
add("unknown tool", '<tool_calls><invoke name="other"></invoke></tool_calls>', [call("other", "{}")]);
add("escaped name", '<tool_calls><invoke name="a&amp;b"></invoke></tool_calls>', [call("a&b", "{}")]);
add("JSON in input", '<tool_calls><invoke name="run">{"input":{"q":1.0, "r":[1]}}</invoke></tool_calls>', [
  call("run", '{"q":1.0, "r":[1]}'),
]);
add(
  "JSON in parameters",
  '<tool_calls><invoke name="run">\n{"parameters": {"q":"</invoke>"}}\n</invoke></tool_calls>',
  [call("run", '{"q":"</invoke>"}')],
);
for (const space of ["\n", "\n\n", "\r", "\r\n\r\n\t"]) {
  const shown = JSON.stringify(space);
  const json = `{${space}"a":${space}[1,${space}"x\u2028y\\n\\nz"]${space}}`;
  const lines = `a${space}b\u2028c`;
  const written = JSON.stringify(lines);
  add(`JSON over several lines: ${shown}`, `<tool_calls><invoke name="run">${json}</invoke></tool_calls>`, [
    call("run", json),
  ]);
  add(
    `JSON over several lines in a parameter: ${shown}`,
    `<tool_calls><invoke name="run"><parameter name="q"><![CDATA[${json}]]></parameter><parameter name="r">${lines}</parameter></invoke></tool_calls>`,
    [call("run", `{"q":${json},"r":${written}}`)],
  );
  add(
    `text over several lines in a declared parameter: ${shown}`,
    `<tool_calls><invoke name="write"><parameter name="content"><![CDATA[${lines}]]></parameter><parameter name="options">${json}</parameter></invoke></tool_calls>`,
    [call("write", `{"content":${written},"options":${json}}`)],
    "",
    TYPED,
  );
}
add("plain JSON object", '<tool_calls><invoke name="run">{"q":"v"}</invoke></tool_calls>', V);
add(
  "mention before the call",
  `Both <tool_calls> and <|TCML|tool_calls> work.\n\n${prefixed("|TCML|")}`,
  V,
  "Both <tool_calls> and <|TCML|tool_calls> work.\n\n",
);
add(
  "foreign elements before the call",
  `<tool><title>x</title></tool>${prefixed("")}`,
  V,
  "<tool><title>x</title></tool>",
);
add(
  "text between invokes",
  '<tool_calls><invoke name="now"></invoke> then <invoke name="now"></invoke></tool_calls>!',
  [call("now", "{}"), call("now", "{}")],
  " then !",
);
add(
  "missing closing wrapper",
  '<tool_calls><invoke name="run"><parameter name="q">v</parameter></invoke> and on',
  V,
  " and on",
);
add(
  "missing closing wrapper at the end",
  '<tool_calls><invoke name="run"><parameter name="q">v</parameter></invoke>\n',
  V,
);

const value = (name: string, body: string, json: string): void => {
  const text = `<|TCML|tool_calls><|TCML|invoke name="run"><|TCML|parameter name="q">${body}</|TCML|parameter></|TCML|invoke></|TCML|tool_calls>`;
  add(`value: ${name}`, text, [call("run", `{"q":${json}}`)]);
};
value("number", "123", "123");
value("negative", "-1.50e+3", "-1.50e+3");
value("big integer", "123456789012345678901234567890", "123456789012345678901234567890");
value("1.0 keeps its digits", "1.0", "1.0");
value("1e999", "1e999", "1e999");
value("spaces around a number", "\n 7 \n", "7");
value("true", "true", "true");
value("false", "false", "false");
value("null", "null", "null");
value("array", '[1, "a",null]', '[1, "a",null]');
value("object", '{"a": {"b":1}}', '{"a": {"b":1}}');
value("object with escapes", '{"a":"\\u00e9\\n"}', '{"a":"\\u00e9\\n"}');
for (const word of [
  "007",
  "NaN",
  "1e",
  "+1",
  ".5",
  "1.",
  "0x10",
  "True",
  "nul",
  "Infinity",
  "--1",
  "{a:1}",
  "[1,",
  "1 2",
]) {
  value(`no literal: ${word}`, word, JSON.stringify(word));
}
value("quoted string keeps its quotes", '"hello"', '"\\"hello\\""');
value("number in CDATA", "<![CDATA[256]]>", "256");
value("object in CDATA", '<![CDATA[{"a":1}]]>', '{"a":1}');
value("white space trimmed", "\n  a b \n", '"a b"');
value("white space in CDATA", "<![CDATA[ a\n]]>", '" a\\n"');
value("white space around CDATA", "\n <![CDATA[ a ]]>\n ", '" a "');
value("empty", "", '""');
value("blank", " \n\t ", '""');
value("empty CDATA", "<![CDATA[]]>", '""');
value("blank CDATA", "<![CDATA[  \n]]>", '""');
value("entities", "a &lt;b&gt; &amp;&amp; &quot;c&quot; &#65;&#x42; &apos;", '"a <b> && \\"c\\" AB \'"');
value("no entities", "a & b &c; &#; &#x110000; &nope", '"a & b &c; &#; &#x110000; &nope"');
value("entities once", "&amp;lt;", '"&lt;"');
value("entities in CDATA", "<![CDATA[a &lt; b]]>", '"a &lt; b"');
value("entities in a literal", "{&quot;a&quot;:1}", '{"a":1}');
value("CDATA split around its end mark", "<![CDATA[a]]]]><![CDATA[>b]]>", '"a]]>b"');
value("text beside CDATA", "a <![CDATA[<b>]]> c", '"a <b> c"');
value("end mark within code", "<![CDATA[if (a[b[0]]>1) go]]>", '"if (a[b[0]]>1) go"');
value(
  "end mark within quotes",
  "<![CDATA[only the literal `]]>` counts]]>",
  '"only the literal `]]>` counts"',
);
value("brackets at the end", "<![CDATA[[[1]]]]>", "[[1]]");
value("CDATA with half an end mark", "<![CDATA[hello world]]", '"hello world"');
value("brackets before a tag in CDATA", "<![CDATA[a[b[0]]<c]]>", '"a[b[0]]<c"');
value("end mark before a sign", "<![CDATA[a]]><![b]]>", '"a]]><![b"');
value("CDATA never closed", "<![CDATA[hello world", '"hello world"');
for (const open of [
  "<！[CDATA[",
  "<、[CDATA[",
  "〈![CDATA[",
  "＜![CDATA[",
  "<![cdata[",
  "<![\u200bCDATA[",
  "<|[CDATA[",
  "<[CDATA[",
]) {
  value(`CDATA as ${open}`, `${open}a<b]]>`, '"a<b"');
}
for (const end of ["]]>", "]]＞", "]]〉"]) value(`CDATA end as ${end}`, `<![CDATA[a<b${end}`, '"a<b"');
value("markup in CDATA", `<![CDATA[${prefixed("")}]]>`, JSON.stringify(prefixed("")));
value(
  "markup with end tags in CDATA",
  "<![CDATA[a</parameter></invoke></tool_calls>b]]>",
  '"a</parameter></invoke></tool_calls>b"',
);
const fencedExample = `# x\n\`\`\`xml\n<|TCML|parameter name="c"><![CDATA[grep]]></|TCML|parameter>\n</|TCML|invoke>\n</|TCML|tool_calls>\n\`\`\`\ntail`;
value("fence in CDATA", `<![CDATA[${fencedExample}]]>`, JSON.stringify(fencedExample));
const tildes = fencedExample.replaceAll("```", "~~~~");
value("tilde fence in CDATA", `<![CDATA[${tildes}]]>`, JSON.stringify(tildes));
value(
  "fence at once in CDATA",
  "<![CDATA[```\n]]></parameter>\n```\n]]>",
  '"```\\n]]></parameter>\\n```\\n"',
);
value("unclosed fence in CDATA", "<![CDATA[```\ncode]]>", '"```\\ncode"');
value("backticks are no code in a value", "echo `date` ``` x", '"echo `date` ``` x"');
value("comparison signs", "a < b && c > d", '"a < b && c > d"');
value("redirection", "go 2>&1 </dev/null <", '"go 2>&1 </dev/null <"');
value(
  "foreign element ending alike",
  '<hyperparameter name="x">1</hyperparameter>',
  '"<hyperparameter name=\\"x\\">1</hyperparameter>"',
);
value("mention of an end tag", "write </invoke> there", '"write </invoke> there"');
value("complete call as text", `see ${prefixed("")} end`, JSON.stringify(`see ${prefixed("")} end`));
value("look-alikes are kept", "inv\u03bfke ＜b＞ “x”", '"inv\u03bfke ＜b＞ “x”"');
value("items", "<item>a</item><item>2</item>", '["a",2]');
value("one item", "<item>a</item>", '["a"]');
value("items in CDATA", "<![CDATA[<item>a</item>]]>", '["a"]');
value(
  "items with fields",
  "\n<item><question><![CDATA[What <now>?]]></question><options><item><label>A</label></item><item><label>B</label></item></options><many>false</many></item>\n",
  '[{"question":"What <now>?","options":[{"label":"A"},{"label":"B"}],"many":false}]',
);
value("nested elements", "<a><b>x</b><c>1</c></a>", '{"a":{"b":"x","c":1}}');
value("repeated elements", "<a>x</a><a>y</a>", '{"a":["x","y"]}');
value("one flat element", "<b>urgent</b>", '"<b>urgent</b>"');
value("one flat element in CDATA", "<![CDATA[<b>urgent</b>]]>", '"<b>urgent</b>"');
value("elements in CDATA are text", "<![CDATA[<a><b>x</b></a>]]>", '"<a><b>x</b></a>"');
value("prose with elements", "<p>Hello <b>you</b></p>", '"<p>Hello <b>you</b></p>"');
value("elements with attributes", '<a href="x"><b>y</b></a>', '"<a href=\\"x\\"><b>y</b></a>"');
value("unbalanced elements", "<a><b>x</a>", '"<a><b>x</a>"');
value("emoji", "👍🏽 ok", '"👍🏽 ok"');
value("control characters", "a\u0001\u2028b", JSON.stringify("a\u0001\u2028b"));

const typed = (name: string, parameter: string, body: string, json: string, attributes = ""): void => {
  const text = `<tool_calls><invoke name="write"><parameter name="${parameter}"${attributes}>${body}</parameter></invoke></tool_calls>`;
  add(`typed: ${name}`, text, [call("write", `{"${parameter}":${json}}`)], "", TYPED);
};
typed("string stays a string", "content", "123", '"123"');
typed("string with an object", "content", '{"a":1}', '"{\\"a\\":1}"');
typed("string with elements", "content", "<item>a</item>", '"<item>a</item>"');
typed("string in CDATA", "content", "<![CDATA[true]]>", '"true"');
typed("string trimmed and decoded", "content", "\n a &lt; b \n", '"a < b"');
typed("union is no string", "label", "null", "null");
typed("integer", "count", "12", "12");
typed("integer that is none", "count", "twelve", '"twelve"');
typed("structure in CDATA", "options", "<![CDATA[<a>1</a><b>x</b>]]>", '{"a":1,"b":"x"}');
typed("undeclared parameter", "extra", "12", "12");
typed("undeclared but marked as string", "extra", "12", '"12"', ' string="true"');
add(
  "repeated parameters",
  '<tool_calls><invoke name="run"><parameter name="q">a</parameter><parameter name="q">2</parameter><parameter name="r">x</parameter></invoke></tool_calls>',
  [call("run", '{"q":["a",2],"r":"x"}')],
);
add(
  "several parameters of all kinds",
  '<tool_calls><invoke name="write"><parameter name="path">/a</parameter>\n<parameter name="count">3</parameter><parameter name="content"><![CDATA[x\ny]]></parameter></invoke></tool_calls>',
  [call("write", '{"path":"/a","count":3,"content":"x\\ny"}')],
  "",
  TYPED,
);

const rejected: Case[] = [];
const stays = (name: string, input: string): void => {
  rejected.push({ name, input, text: input, calls: [], tools: LOOSE });
};
stays("plain text", "Hello, world.\n\nBye.");
stays("signs", "2 < 3 and 4 > 3, a<b, x << 2, <, <<, <<<<<<, </, <>, 《史记》 〈诗〉 2 <");
stays("HTML", '<div class="x"><p>text</p><br/></div><!-- tool_calls --><a href="?a=1&b=2">x</a>');
stays("bare invoke", '<invoke name="run"><parameter name="q">v</parameter></invoke>');
stays("bare invoke that ends in its parameter", '<invoke name="run"><parameter name="q">v');
stays("bare invoke with an open parameter", '<invoke name="run"><parameter name="q">v</invoke></tool_calls>');
stays("bare invoke and text", 'Use <invoke name="run"> as shown, then <parameter name="q"> here.');
stays("bare parameter", '<parameter name="q">v</parameter>');
stays("lone closing tags", "</invoke></tool_calls></parameter>");
stays("empty wrapper", "<tool_calls></tool_calls>");
stays("empty wrapper, self-closing", "<tool_calls/>");
stays("wrapper with prose", "<tool_calls>nothing here</tool_calls>");
stays("wrapper at the end", "text <|TCML|tool_calls>");
stays("wrapper and half an invoke", '<tool_calls>\n  <invoke name="run">\n');
stays("half a wrapper", "text <|TCML|tool_ca");
for (const wrapper of [
  "tool_call",
  "tool_calls_extra",
  "tool-calls",
  "tool calls",
  "toolcalls",
  "tool_callz",
  "function_calls",
  "tools",
  "TcmlToolCallsExtra",
  "tool_calls2",
  "|TCML tool_calls_extra",
  "TCMLtool_calls_extra",
]) {
  stays(
    `wrapper ${wrapper}`,
    `<${wrapper}><invoke name="run"><parameter name="q">v</parameter></invoke></${wrapper}>`,
  );
}
stays("look-alike near miss", '<to\u03bfl_callz><inv\u03bfke name="run"></inv\u03bfke></to\u03bfl_callz>');
stays(
  "near miss of invoke",
  '<tool_calls><inv\u03bfker name="run"><parameter name="q">v</parameter></inv\u03bfker></tool_calls>',
);
stays(
  "legacy tools",
  '<tools><tool_call><tool_name>run</tool_name><param>{"q":"v"}</param></tool_call></tools>',
);
stays(
  "legacy body",
  '<tool_calls><invoke name="run"><tool_name>run</tool_name><param>{"q":"v"}</param></invoke></tool_calls>',
);
stays("param", '<tool_calls><invoke name="run"><param>{"q":"v"}</param></invoke></tool_calls>');
stays("invoke without a name", '<tool_calls><invoke><parameter name="q">v</parameter></invoke></tool_calls>');
stays(
  "invoke with a blank name",
  '<tool_calls><invoke name=" "><parameter name="q">v</parameter></invoke></tool_calls>',
);
stays(
  "parameter without a name",
  '<tool_calls><invoke name="run"><parameter>v</parameter></invoke></tool_calls>',
);
stays("text in the invoke", '<tool_calls><invoke name="run">do it</invoke></tool_calls>');
stays("broken JSON in the invoke", '<tool_calls><invoke name="run">{"q":</invoke></tool_calls> and on');
stays("JSON array in the invoke", '<tool_calls><invoke name="run">[1]</invoke></tool_calls>');
stays(
  "a malformed first invoke makes the wrapper text",
  '<tool_calls><invoke name="run"><param>1</param></invoke><invoke name="run"><parameter name="q">v</parameter></invoke></tool_calls>',
);
stays(
  "a foreign element makes the wrapper text",
  '<tool_calls><param>1</param><invoke name="run"><parameter name="q">v</parameter></invoke></tool_calls>',
);
stays("end tag without a bracket", '<tool_calls><invoke name="run">/invoke></tool_calls>');
stays("an invoke too long to be one", `<invoke a="${"x".repeat(150)}" name="run"></invoke></tool_calls>`);
stays("function_call", '<function_call>{"name":"run","arguments":{}}</function_call>');
stays("tool_use", '<tool_use id="1"><name>run</name><input>{}</input></tool_use>');
stays(
  "antml",
  '<function_calls><invoke name="run"><parameter name="q">v</parameter></invoke></function_calls>',
);
stays("antml shell", prefixed(`${"ant"}ml:`));
stays("JSON", '{"tool_calls":[{"name":"run","input":{"q":"v"}}]}');
stays(
  "tool tokens",
  "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>run\n{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
);
stays("bracketed tokens", '[TOOL_CALLS] [{"name":"run","arguments":{}}] <|python_tag|>run()');
stays("fence", `Example:\n\`\`\`xml\n${prefixed("")}\n\`\`\`\nDone.`);
stays("fence behind a mention", `Use <tool_calls>\n\`\`\`\n${prefixed("")}\n\`\`\`\n`);
stays("tilde fence", `~~~\n${prefixed("|TCML|")}\n~~~\n`);
stays("fence with a longer closer", `\`\`\`\n${prefixed("")}\n\`\`\`\`\`  \nx`);
stays(
  "shorter run is no closer",
  `\`\`\`\`md\n\`\`\`xml\n${prefixed("")}\n\`\`\`\n${prefixed("")}\n\`\`\`\``,
);
stays("other character is no closer", `~~~\n\`\`\`\n${prefixed("")}\n~~~`);
stays("closer with text is no closer", `\`\`\`\n\`\`\` x\n${prefixed("")}`);
stays("unclosed fence", `\`\`\`\n${prefixed("")}`);
stays("indented fence", `  \`\`\`\n${prefixed("")}\n   \`\`\``);
stays("fence in a list", `1. one\n\n   \`\`\`xml\n   ${prefixed("")}\n   \`\`\`\n`);
stays("fence on a list line", `- \`\`\`\n  ${prefixed("")}\n  \`\`\`\n`);
stays("fence in a block quote", `> \`\`\`\n> ${prefixed("")}\n> \`\`\`\n`);
stays("fence with Windows line ends", `a\r\n\`\`\`xml\r\n${prefixed("")}\r\n\`\`\`\r\n`);
stays("inline span", `Write \`${prefixed("")}\` there.`);
stays("inline span by run length", `Write \`\` \` ${prefixed("")} \`\` there.`);
stays("inline span over a line end", `Write \`a\n${prefixed("")}\` there.`);
stays("inline span with a fence run", `\`\`\` ${prefixed("")} \`\`\``);
stays("inline mention of an invoke", 'The tag `<invoke name="run">` takes `<parameter name="q">`.');
stays("missing opening wrapper in a span", '`<invoke name="run"></invoke></tool_calls>`');

const after = (name: string, before: string, rest = ""): void => {
  add(`after ${name}`, `${before}${prefixed("")}${rest}`, V, `${before}${rest}`);
};
after("a closed fence", `\`\`\`xml\n${prefixed("")}\n\`\`\`\n`);
after("a nested fence", `\`\`\`\`md\n\`\`\`\n${prefixed("")}\n\`\`\`\n\`\`\`\`\n`);
after("an inline span", `\`${prefixed("")}\` `);
after("an unclosed backtick", "a ` b ");
after("an unclosed double run", "a `` b ` c ` ");
after("a backtick in another paragraph", "a ` b\n\n", "\n\nc ` d");
after("a backtick before a heading", "a ` b\n# c\n", "\n` d");
after("an escaped backtick", "a \\` b ", " ` c");
after("indented code", "text\n\n    ");
after("a block quote mark", "> ");
after("a list mark", "- ");
add(
  "over the lines of a block quote",
  '> Look:\n> <tool_calls>\n> <invoke name="run">\n> <parameter name="q">v</parameter>\n> </invoke>\n> </tool_calls>\n',
  V,
  "> Look:\n> \n",
);
add(
  "over the lines of indented code",
  'x\n\n    <tool_calls>\n      <invoke name="run">\n        <parameter name="q">v</parameter>\n      </invoke>\n    </tool_calls>\n',
  V,
  "x\n\n    \n",
);
after("backticks that close each other", "`a` ``b ` c`` ");
after("a fence that ended with its list", "- ```\n  x\n\n");
after("a fence whose list ended before a paragraph", "- ```\n  x\n\nEnd. ");
after("two tildes", "~~ ");
after("four spaces before a fence", "x\n\n    ```\n");
add("backtick between calls", `${prefixed("")} \` ${prefixed("")}`, [...V, ...V], " ` ");

/** Malformed behind the announcement: the call stands in a stream, and a whole response is text. */
const broken: Case[] = [];
const breaks = (name: string, input: string, calls: Found[], text = ""): void => {
  broken.push({ name, input, text, calls, tools: LOOSE, whole: { text: input, calls: [] } });
};
breaks(
  "mismatched end tag",
  '<tool_calls><invoke name="run"><parameter name="q">v</function></invoke></tool_calls>',
  [call("run", "{}")],
);
breaks(
  "text behind a parameter",
  '<tool_calls><invoke name="run"><parameter name="q">1</parameter>oops</invoke></tool_calls>',
  [call("run", '{"q":1}')],
);
breaks(
  "foreign parameter behind a parameter",
  '<tool_calls><invoke name="run"><parameter name="q">1</parameter><param name="r">2</param></invoke></tool_calls>',
  [call("run", '{"q":1}')],
);
breaks(
  "parameter without a name behind a parameter",
  '<tool_calls><invoke name="run"><parameter name="q">1</parameter><parameter>2</parameter></invoke></tool_calls>',
  [call("run", '{"q":1}')],
);
breaks(
  "missing end of an invoke",
  '<tool_calls><invoke name="run"><parameter name="q">1</parameter></tool_calls>',
  [call("run", '{"q":1}')],
);
breaks(
  "missing end of an invoke before the next",
  '<tool_calls><invoke name="run"><parameter name="q">1</parameter><invoke name="now"></invoke></tool_calls>',
  [call("run", '{"q":1}'), call("now", "{}")],
);
breaks(
  "malformed second invoke",
  '<tool_calls><invoke name="now"></invoke><invoke><parameter name="q">1</parameter></invoke></tool_calls>',
  [call("now", "{}")],
  '<invoke><parameter name="q">1</parameter></invoke>',
);

const rubbish = "x ".repeat(600);
breaks(
  "much text behind a parameter",
  `<tool_calls><invoke name="run"><parameter name="q">1</parameter>${rubbish}</invoke></tool_calls>.`,
  [call("run", '{"q":1}')],
  `${rubbish}.`,
);

/** The text ends within a call. */
const truncated: Case[] = [];
const ends = (name: string, input: string, calls: Found[], tools = LOOSE, off = calls): void => {
  truncated.push({ name, input, text: "", calls, tools, off: { text: "", calls: off } });
};
ends(
  "within a number",
  '<tool_calls><invoke name="run"><parameter name="q">v</parameter><parameter name="r">12',
  [{ ...call("run", '{"q":"v"'), cut: true }],
);
ends(
  "within a closing tag",
  '<tool_calls><invoke name="run"><parameter name="q">v</parameter></inv',
  [call("run", '{"q":"v"}')],
  LOOSE,
  [{ ...call("run", '{"q":"v"'), cut: true }],
);
ends(
  "within the closing wrapper",
  '<tool_calls><invoke name="run"><parameter name="q">v</parameter></invoke></|TCML|tool_calls',
  V,
);
ends(
  "within a declared string",
  '<tool_calls><invoke name="write"><parameter name="content">abc',
  [{ ...call("write", '{"content":"abc'), cut: true }],
  TYPED,
);
ends(
  "within CDATA of a declared string",
  '<tool_calls><invoke name="write"><parameter name="content"><![CDATA[abc]',
  [{ ...call("write", '{"content":"abc]'), cut: true }],
  TYPED,
);

accepted.push(...repaired);
truncated.push(...cut);

export { accepted, truncated };
export const cases: readonly Case[] = [...accepted, ...rejected, ...broken, ...truncated];
