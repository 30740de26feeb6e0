import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/forms/confirm.tsx";
import { showToast } from "../ui/toasts.tsx";
import { texts } from "./texts.ts";

interface EraseDataProps {
  /** The key's or the user's name, for the question. */
  readonly name: ComponentChildren;
  /** Erases and returns how many entries there were. */
  readonly erase: () => Promise<number>;
}

/** Button that erases everything that is stored of a key's or a user's requests, after a confirmation. */
export function EraseData({ name, erase }: EraseDataProps) {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <Button kind="quiet" needs="owner" onClick={() => setIsAsking(true)}>
        {texts.eraseData}
      </Button>
      {isAsking && (
        <Confirm
          title={texts.eraseDataQuestion}
          action={texts.eraseDataAction}
          run={async () => showToast(texts.dataErased(await erase()))}
          onClose={() => setIsAsking(false)}
        >
          <p>{texts.eraseDataWarning(<strong>{name}</strong>)}</p>
        </Confirm>
      )}
    </>
  );
}
