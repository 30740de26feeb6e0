/** The style sheet of the public page. */
export const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d4d7de, #3a3f4b); --soft: light-dark(#f5f6f8, #1d2027); --accent: light-dark(#1a4fd6, #8ab0ff); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; font: 1rem/1.6 system-ui, sans-serif; background: light-dark(#fff, #14161b); color: light-dark(#1b1e25, #e6e8ee); }
h1 { margin: 0; font-size: 2.25rem; letter-spacing: -.02em; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.35rem; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--accent); }
code, pre, output { font: .875rem/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { background: var(--soft); border-radius: .25rem; padding: .1em .35em; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; overflow: auto; padding: .75rem 1rem; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .45rem .75rem .45rem 0; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
form { border: 1px solid var(--line); border-radius: .75rem; display: grid; gap: 1rem; margin: 1rem 0; padding: 1.25rem; }
label { font-weight: 600; }
input[type=text], select { background: light-dark(#fff, #0f1115); border: 1px solid light-dark(#7d8492, #7d8492); border-radius: .4rem; color: inherit; display: block; font: inherit; margin-top: .25rem; padding: .5rem .65rem; width: 100%; }
fieldset { border: 0; display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin: 0; padding: 0; }
fieldset label { align-items: center; display: flex; font-weight: 400; gap: .4rem; }
summary { cursor: pointer; font-weight: 600; }
details fieldset, .fields { margin-top: 1rem; }
.fields { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); }
legend { font-weight: 600; padding: 0; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; }
button { background: var(--accent); border: 0; border-radius: .4rem; color: light-dark(#fff, #10131a); cursor: pointer; font: 600 1rem/1 system-ui, sans-serif; padding: .8rem 1.1rem; }
button[disabled] { cursor: progress; opacity: .6; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
#result img { border: 1px solid var(--line); border-radius: .5rem; display: block; height: auto; margin: 1rem 0; max-width: 100%; }
.error { border-left: 4px solid light-dark(#b3261e, #ff8a80); padding-left: .75rem; }
`;
