import { useRef } from "preact/hooks";
import type { NeededRole } from "../../own-user.ts";
import { Button } from "../button.tsx";

interface FileButtonProps {
  readonly name: string;
  readonly accept: string;
  readonly multiple?: boolean;
  readonly needs?: NeededRole;
  readonly onFiles: (files: readonly File[]) => void;
}

/** Button that lets the user choose files. */
export function FileButton({ name, accept, multiple = false, needs, onFiles }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        multiple={multiple}
        hidden
        aria-label={name}
        onChange={(event) => {
          const field = event.currentTarget;
          const files = [...(field.files ?? [])];
          if (files.length > 0) onFiles(files);
          // Reset the field, so that the user can choose the same file again.
          field.value = "";
        }}
      />
      <Button needs={needs} onClick={() => input.current?.click()}>
        {name}
      </Button>
    </>
  );
}
