import { formatCurl } from "../../shared/curl.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { texts } from "./texts.ts";
import type { Conversation } from "./use-conversation.ts";

interface CodeViewProps {
  readonly conversation: Conversation;
  readonly kind: "request" | "curl" | "javascript" | "python";
}

function formatCode({ dialect, request, ask, headers }: Conversation, kind: CodeViewProps["kind"]): string {
  switch (kind) {
    case "request":
      return texts.post(request.path, JSON.stringify(request.body, null, 2));
    case "curl":
      return formatCurl(location.origin, request, headers);
    case "javascript":
      return dialect.toJavascript(location.origin, request, ask);
    case "python":
      return dialect.toPython(location.origin, request, ask);
  }
}

/** Code of the request for the newest answer, or of a first request. */
export function CodeView({ conversation, kind }: CodeViewProps) {
  return <CodeBlock label={texts.code} text={formatCode(conversation, kind)} />;
}
