import { useRef } from "preact/hooks";
import { Button } from "./button.tsx";

interface FileButtonProps {
  readonly name: string;
  readonly accept: string;
  readonly onText: (text: string) => void;
}

/** Button that lets the user choose a file and reads it as text. */
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
          // Reset the field, so that the user can choose the same file again.
          if (file !== undefined) onText(await file.text());
          field.value = "";
        }}
      />
      <Button onClick={() => input.current?.click()}>{name}</Button>
    </>
  );
}
