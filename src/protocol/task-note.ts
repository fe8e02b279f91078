/** A server's notification about one of its tasks. */
export interface TaskNote {
  /** The server's own id. */
  readonly taskId: string;
  readonly method: string;
  /** Raw JSON, with the server's own ids. */
  readonly params: string;
}
