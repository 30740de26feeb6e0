import { useState } from "preact/hooks";
import type { NeededRole } from "../own-user.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { words } from "./words.ts";

interface CopyProps {
  readonly text: string | (() => Promise<string>);
  readonly name?: string;
  readonly label?: string;
  readonly needs?: NeededRole;
}

/** Copies a text and confirms it on the button. */
export function CopyButton({ text, name = words.copy, label, needs }: CopyProps) {
  const [message, setMessage] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      setMessage(words.copied);
    } catch {
      setMessage(words.notCopied);
    }
    setTimeout(() => setMessage(""), 1_500);
  };
  return (
    <Button
      kind="quiet"
      needs={needs}
      onClick={copy}
      {...(label !== undefined && message === "" && { label })}
    >
      <Icon name={message === words.copied ? "check" : "copy"} />
      <span aria-live="polite">{message || name}</span>
    </Button>
  );
}
