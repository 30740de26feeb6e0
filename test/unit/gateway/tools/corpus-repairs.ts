import type { Case } from "./corpus.ts";
import { type Found, LOOSE, TYPED } from "./support.ts";

/** CDATA that drifts or is never closed, and calls that end in the middle. */

const call = (name: string, args: string): Found => ({ name, arguments: args });
const open = (name: string): string => `<|TCML|parameter name="${name}">`;
const CLOSE = "</|TCML|parameter>";
const HEAD = '<|TCML|tool_calls><|TCML|invoke name="run">';
const NEXT = '</|TCML|invoke><|TCML|invoke name="run">';
const TAIL = "</|TCML|invoke></|TCML|tool_calls>";

export const repaired: Case[] = [];
const repairs = (name: string, body: string, calls: string[], rest = "", tools = LOOSE): void => {
  const found = calls.map((args) => call("run", args));
  repaired.push({ name, input: `${HEAD}${body}${TAIL}${rest}`, text: rest, calls: found, tools });
};

repairs("two CDATA never closed", `${open("s")}<![CDATA[hi there${CLOSE}${open("x")}<![CDATA[yo${CLOSE}`, [
  '{"s":"hi there","x":"yo"}',
]);
repairs("empty CDATA never closed", `${open("s")}<![CDATA[a${CLOSE}${open("x")}<![CDATA[${CLOSE}`, [
  '{"s":"a","x":""}',
]);
repairs(
  "CDATA never closed before text",
  `${open("s")}<![CDATA[a${CLOSE}${open("x")}<![CDATA[b${CLOSE}`,
  ['{"s":"a","x":"b"}'],
  " and on",
);
repairs(
  "CDATA never closed in two invokes",
  `${open("s")}<![CDATA[a${CLOSE}\n${open("n")}1${CLOSE}${NEXT}${open("s")}<![CDATA[b${CLOSE}${NEXT}`,
  ['{"s":"a","n":1}', '{"s":"b"}', "{}"],
);
repairs(
  "CDATA with half an end mark, twice",
  `${open("s")}<![CDATA[a]]${CLOSE}${open("x")}<![CDATA[b]]${CLOSE}`,
  ['{"s":"a","x":"b"}'],
);
repairs(
  "the first of two CDATA never closed",
  `${open("s")}<![CDATA[a${CLOSE}${open("x")}<![CDATA[<b>]]>${CLOSE}`,
  ['{"s":"a","x":"<b>"}'],
);
repairs(
  "CDATA never closed before CDATA with an end tag",
  `${open("s")}<![CDATA[a${CLOSE}${open("x")}<![CDATA[b${CLOSE}c]]>${CLOSE}`,
  [JSON.stringify({ s: "a", x: `b${CLOSE}c` })],
);
repairs(
  "half an end mark before CDATA that is closed",
  `${open("s")}<![CDATA[a]]${CLOSE}${open("x")}<![CDATA[b]]>${CLOSE}`,
  ['{"s":"a","x":"b"}'],
);
repairs(
  "the second of three CDATA never closed",
  `${open("s")}<![CDATA[a]]>${CLOSE}\n${open("x")}<![CDATA[b${CLOSE}\n${open("y")}\n<![CDATA[c]]>${CLOSE}`,
  ['{"s":"a","x":"b","y":"c"}'],
  "!",
);
repairs(
  "all CDATA but the last never closed",
  `${open("s")}<![CDATA[a${CLOSE}${open("n")}1${CLOSE}${open("x")}<![CDATA[b${CLOSE}${open("y")}<![CDATA[c]]>${CLOSE}`,
  ['{"s":"a","n":1,"x":"b","y":"c"}'],
);
repairs(
  "CDATA never closed before another invoke",
  `${open("s")}<![CDATA[a${CLOSE}${NEXT}${open("s")}<![CDATA[b]]>${CLOSE}${NEXT}${open("s")}<![CDATA[c${CLOSE}`,
  ['{"s":"a"}', '{"s":"b"}', '{"s":"c"}'],
);
repairs(
  "CDATA never closed, twice",
  `${open("a")}<![CDATA[1x${CLOSE}${open("b")}<![CDATA[2x]]>${CLOSE}${open("c")}<![CDATA[3x${CLOSE}${open("d")}<![CDATA[4x]]>${CLOSE}`,
  ['{"a":"1x","b":"2x","c":"3x","d":"4x"}'],
);

const value = (name: string, body: string, json: string): void => {
  repairs(`value: ${name}`, `${open("q")}${body}${CLOSE}`, [`{"q":${json}}`]);
};
const example = `${HEAD}${open("a")}<![CDATA[v]]>${CLOSE}${open("b")}<![CDATA[w]]>${CLOSE}${TAIL}`;
value(
  "a call with CDATA, split around its end marks",
  `<![CDATA[${example.replaceAll("]]>", "]]]]><![CDATA[>")}]]>`,
  JSON.stringify(example),
);
const whole = `${open("a")}1${CLOSE}${open("b")}<![CDATA[w`;
value("parameters that begin within CDATA", `<![CDATA[${whole}]]>`, JSON.stringify(whole));
const fenced = `x\n\`\`\`\n1${CLOSE}${open("b")}<![CDATA[w\n\`\`\`\n`;
value("an end tag and CDATA in a fence", `<![CDATA[${fenced}]]>`, JSON.stringify(fenced));
const mixed = `x\n\`\`\`\n1${CLOSE}\n\`\`\`\n${open("b")}<![CDATA[w`;
value("an end tag in a fence before CDATA", `<![CDATA[${mixed}]]>`, JSON.stringify(mixed));
const late = `1${CLOSE}\n\`\`\`\n${open("b")}<![CDATA[w\n\`\`\`\n`;
value("an end tag before CDATA in a fence", `<![CDATA[${late}]]>`, JSON.stringify(late));
const plain = `1${CLOSE}${open("b")}2`;
value("an end tag and a parameter without CDATA", `<![CDATA[${plain}]]>`, JSON.stringify(plain));
const far = " ".repeat(300);
value("much space between sections", `<![CDATA[a]]>${far}<![CDATA[b]]>`, `"a]]>${far}<![CDATA[b"`);

for (const mark of [
  "<![CDATA|",
  "<![CDATA｜",
  "<![CDATA||",
  "<![CDATA|[",
  "<![CDATA| [",
  "<![CDATA！",
  "<、[CDATA、",
  "<![CDATA\u2402",
  "<|![CDATA[",
  "<!|[CDATA[",
  "<![|CDATA[",
  "<![CDATA [",
  "<! [CDATA[",
  "<![cData[",
  "<![cdata|",
  "＜！［ＣＤＡＴＡ［",
  "＜！［ＣＤＡＴＡ｜",
  "<、、[CDATA[",
  "<！！[CDATA[",
]) {
  value(`CDATA as ${JSON.stringify(mark)}`, `${mark}a<b]]>`, '"a<b"');
}
for (const mark of ["]]|>", "]]｜>", "]]＞", "］］＞", "] ]>", "]|]>", "]] >", "]]！>", "]]|＞", "】】〉"]) {
  value(`CDATA end as ${mark}`, `<![CDATA[a<b${mark}`, '"a<b"');
}
value("drifted CDATA before spaces", "\n<![CDATA|  a]]>\n", '"  a"');
value("drifted sections", "<![CDATA|a]]]]|><![CDATA|>b]]>", '"a]]>b"');
value("drifted CDATA behind CDATA", "<![CDATA[a]]]]><![CDATA|>b]]>", '"a]]>b"');
value("drifted CDATA in text", "see <![CDATA|x]]> there", '"see <![CDATA|x]]> there"');
value("drifted CDATA in elements", "<item><![CDATA|<x>]]></item><item>\n<![CDATA[2]]></item>", '["<x>",2]');
value("no separator behind CDATA", "<![CDATA你好]]>", '"<![CDATA你好]]>"');
value("no bracket behind CDATA", "<![CDATA-x]]>", '"<![CDATA-x]]>"');
value("drifted end marks in CDATA", "<![CDATA[a]]|>b] ]> c]]!> ]|]>]]>", '"a]]|>b] ]> c]]!> ]|]>"');
value("drifted end marks in CDATA behind text", "a <![CDATA[x]]|>y]]>", '"a x]]|>y"');
value("end marks too wide", "<![CDATA[a]   ]>", '"a]   ]>"');

/** The text ends within a parameter of the declared string `content`, or of `q`, which is not declared. */
export const cut: Case[] = [];
/** @param text What of the declared string is certain. Without a declaration it is too short for anything to be. */
const cuts = (name: string, body: string, text: string | undefined): void => {
  const fragment = text === undefined ? "" : `,"content":${JSON.stringify(text).slice(0, -1)}`;
  const head = `<|TCML|tool_calls><|TCML|invoke name="write">${open("path")}/a${CLOSE}`;
  cut.push({
    name: `cut: ${name}`,
    input: `${head}${open("content")}${body}`,
    text: "",
    calls: [{ ...call("write", `{"path":"/a"${fragment}`), cut: true }],
    tools: TYPED,
  });
  cut.push({
    name: `cut: ${name}, not declared`,
    input: `${head}${open("q")}${body}`,
    text: "",
    calls: [{ ...call("write", '{"path":"/a"'), cut: true }],
    tools: TYPED,
  });
};
for (const end of [
  "</|",
  "</|TC",
  "</|TCML",
  "</|TCML|para",
  "</|TCML|parameter",
  "</|TCML|parameter\n",
  "</TCML|inv",
]) {
  cuts(`within ${JSON.stringify(end)}`, `hello world${end}`, "hello world");
  cuts(`behind CDATA, within ${JSON.stringify(end)}`, `<![CDATA[ a<b ]]>${end}`, " a<b ");
  cuts(`within CDATA, within ${JSON.stringify(end)}`, `<![CDATA[ a<b${end}`, " a<b");
  cuts(`behind half an end mark, within ${JSON.stringify(end)}`, `<![CDATA[ a<b]]${end}`, " a<b");
}
cuts("at the slash", "hello world</", "hello world");
cuts("at an arrow", "<-", "<-");
cuts("at the first bracket", "<", "<");
cuts("at the bracket", "hello world<", "hello world<");
cuts("at the bracket behind CDATA", "<![CDATA[hello]]><", "hello");
cuts("behind CDATA", "<![CDATA[hello]]>", "hello");
cuts("within CDATA", "<![CDATA[rm -rf /tmp/ca", "rm -rf /tmp/ca");
cuts("within an opening shell", "hello world<|TC", "hello world");
cuts("within another closing tag", "<b>hello</b", "<b>hello</b");
cuts("within a comparison", "1 <2", "1 <2");
cuts("within plain tags", "hello</inv", "hello");
cuts("within CJK tags", "hello〈/TCML", "hello");
cuts("within the opening of CDATA", "<![CDA", undefined);
cuts("at the sign of CDATA", "<!", undefined);
cuts("within CDATA in text", "a <![CDA", "a <![CDA");
cuts("before anything", "", undefined);
cut.push({
  name: "cut: within the last of two CDATA never closed",
  input: `${HEAD}${open("a")}<![CDATA[x${CLOSE}${open("b")}<![CDATA[y</|TCML|p`,
  text: "",
  calls: [{ ...call("run", '{"a":"x"'), cut: true }],
  tools: LOOSE,
  // Nobody can say where the first one was to end.
  off: { text: "", calls: [{ ...call("run", ""), cut: true }] },
});

/** What is repaired if the model ended there by itself, and nothing is known of if it was cut off. */
const ended = (name: string, input: string, calls: Found[], off: Found[], tools = LOOSE): void => {
  cut.push({ name: `ended: ${name}`, input, text: "", calls, tools, off: { text: "", calls: off } });
};
const V = `${open("q")}v${CLOSE}`;
const done = [call("run", '{"q":"v"}')];
const undone: Found[] = [{ ...call("run", '{"q":"v"'), cut: true }];
ended("behind a parameter", `${HEAD}${V}`, done, undone);
ended("within the end of an invoke", `${HEAD}${V}</|TCML|inv`, done, undone);
ended("within the next parameter's tag", `${HEAD}${V}<|TCML|param`, done, undone);
cut.push({
  name: "ended: in garbage",
  input: `${HEAD}${V}</function>`,
  text: "</function>",
  calls: done,
  tools: LOOSE,
  off: { text: "", calls: undone },
});
ended("behind an invoke", `${HEAD}${V}</|TCML|invoke>`, done, done);
ended("within the end of the wrapper", `${HEAD}${V}</|TCML|invoke></|TCML|tool_calls`, done, done);
ended(
  "in a later call",
  `${HEAD}${V}${NEXT}${open("q")}w`,
  [...done, { ...call("run", ""), cut: true }],
  [...done, { ...call("run", ""), cut: true }],
);
ended(
  "behind an invoke whose parameter did not end",
  `<|TCML|tool_calls><|TCML|invoke name="write">${open("content")}hello</|TCML|invoke></|TCML|tool`,
  [call("write", '{"content":"hello"}')],
  [{ ...call("write", '{"content":"hello'), cut: true }],
  TYPED,
);
ended("with CDATA that was never closed", `${HEAD}${open("q")}<![CDATA[v${CLOSE}${TAIL}`, done, [
  { ...call("run", ""), cut: true },
]);
ended(
  "with CDATA that was never closed, before the end of the invoke",
  `${HEAD}${open("q")}<![CDATA[v${CLOSE}`,
  undone,
  [{ ...call("run", ""), cut: true }],
);
