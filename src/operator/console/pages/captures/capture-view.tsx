import { useState } from "preact/hooks";
import { readCapture } from "../../api/captures.ts";
import { formatHref } from "../../routing.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { formatDuration, formatFullTime } from "../../ui/format.ts";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Tabs } from "../../ui/tabs.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

interface CaptureViewProps {
  readonly id: string;
  readonly onClose: () => void;
}

const headerText = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

/** Shows one complete exchange with the provider. */
export function CaptureView({ id, onClose }: CaptureViewProps) {
  const { data, error, reload } = useLoaded((signal) => readCapture(id, signal), id);
  const [tab, setTab] = useState("response");
  return (
    <Dialog
      title={data === null ? texts.exchange : `${data.label}: ${data.method} ${data.url}`}
      onClose={onClose}
      wide
    >
      <div class="dialog-body stack">
        <LoadState {...{ data, error, reload }} />
        {data !== null && (
          <>
            <p class="muted">
              {formatFullTime(data.at)}, {formatDuration(data.duration_ms)}, {texts.outcomes[data.outcome]}
              {data.error !== "" && `: ${data.error}`}
              {data.truncated && texts.bodiesCut}
              {data.request_id !== "" && (
                <>
                  . <a href={formatHref("history", "", `q=${data.request_id}`)}>{texts.historyLink}</a>
                </>
              )}
            </p>
            <Tabs
              label={texts.parts}
              current={tab}
              onChange={setTab}
              tabs={[
                {
                  id: "response",
                  name: texts.answer,
                  content: () => (
                    <CodeBlock
                      label={texts.answer}
                      text={texts.http(data.status, headerText(data.response_headers), data.response_body)}
                    />
                  ),
                },
                {
                  id: "request",
                  name: words.request,
                  content: () => (
                    <CodeBlock
                      label={words.request}
                      text={`${data.method} ${data.url}\n${headerText(data.request_headers)}\n\n${data.request_body}`}
                    />
                  ),
                },
              ]}
            />
          </>
        )}
      </div>
    </Dialog>
  );
}
