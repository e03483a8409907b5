import type { DispatcherOptions } from "./dispatcher.ts";

/**
 * The connections to one service, opened with the first request: undici, which they need, is a third of the
 * program, and commands start faster without it. `close` may be called twice.
 */
export function createConnections(options: DispatcherOptions) {
  let opened: ReturnType<typeof open> | undefined;
  return {
    open: () => (opened ??= open(options)),
    async close(): Promise<void> {
      const connections = await opened;
      await connections?.dispatcher.destroy();
    },
  };
}

let loaded: Promise<typeof import("./dispatcher.ts")> | undefined;

/**
 * Loads what the first request needs. For programs that may send it long after their start: an upgrade may have replaced
 * their files by then.
 */
export function loadConnections() {
  loaded ??= import("./dispatcher.ts");
  return loaded;
}

async function open(options: DispatcherOptions) {
  const { createDispatcher, request } = await loadConnections();
  return { request, dispatcher: createDispatcher(options) };
}
