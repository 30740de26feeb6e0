import { useRef } from "preact/hooks";
import { Button } from "./button.tsx";

interface FileButtonProps {
  readonly name: string;
  readonly accept: string;
  readonly onText: (text: string) => void;
}

/** Lets the person choose a file, and reads it as text. */
export function FileButton({ name, accept, onText }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        hidden
        aria-label={name}
        onChange={async (event) => {
          const field = event.currentTarget;
          const file = field.files?.[0];
          // The same file may be chosen again after it was edited.
          if (file !== undefined) onText(await file.text());
          field.value = "";
        }}
      />
      <Button onClick={() => input.current?.click()}>{name}</Button>
    </>
  );
}
