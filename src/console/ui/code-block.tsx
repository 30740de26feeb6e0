import { CopyButton } from "./copy-button.tsx";
import { Scroller } from "./scroller.tsx";

interface CodeBlockProps {
  readonly label: string;
  readonly text: string;
}

/** A text as it is, to read and to copy. */
export function CodeBlock({ label, text }: CodeBlockProps) {
  return (
    <div class="code-box">
      <CopyButton text={text} label={`Copy: ${label}`} />
      <Scroller label={label} class="code-scroll">
        <pre class="code">{text}</pre>
      </Scroller>
    </div>
  );
}
