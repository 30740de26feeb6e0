import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

interface CopyProps {
  readonly text: string | (() => Promise<string>);
  readonly name?: string;
  readonly label?: string;
}

/** Copies a text and confirms it on the button. */
export function CopyButton({ text, name = "Copy", label }: CopyProps) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      setSaid("Copied");
    } catch {
      setSaid("Not copied");
    }
    setTimeout(() => setSaid(""), 1_500);
  };
  return (
    <Button kind="quiet" onClick={copy} {...(label !== undefined && said === "" && { label })}>
      <Icon name={said === "Copied" ? "check" : "copy"} />
      <span aria-live="polite">{said || name}</span>
    </Button>
  );
}
