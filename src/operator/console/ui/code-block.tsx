import { CopyButton } from "./copy-button.tsx";
import { Scroller } from "./scroller.tsx";
import { words } from "./words.ts";

interface CodeBlockProps {
  readonly label: string;
  readonly text: string;
}

/** A preformatted text with a copy button. */
export function CodeBlock({ label, text }: CodeBlockProps) {
  return (
    <div class="code-box">
      <CopyButton text={text} label={words.copyNamed(label)} />
      <Scroller label={label} class="code-scroll">
        <pre class="code">{text}</pre>
      </Scroller>
    </div>
  );
}
