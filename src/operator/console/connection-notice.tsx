import { checkConnection, connection } from "./connection.ts";
import { useStore } from "./store.ts";
import { texts } from "./texts.ts";
import { Button } from "./ui/button.tsx";
import { Notice } from "./ui/notice.tsx";

/** Shows on every page that the gateway is unreachable, and when the displayed data was loaded. */
export function ConnectionNotice() {
  const { lost, heardAt } = useStore(connection);
  if (!lost) return null;
  const dataNote = heardAt === 0 ? "" : texts.dataFrom(new Date(heardAt).toLocaleTimeString("en-GB"));
  return (
    <div class="connection">
      <Notice kind="error" action={<Button onClick={() => void checkConnection()}>{texts.tryNow}</Button>}>
        {texts.connectionLostReconnecting(dataNote)}
      </Notice>
    </div>
  );
}
