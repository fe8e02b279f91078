/** Tells the flight recorder how each routed request ended. The relay tells it of all others. */
import type { Flight } from "../../../mcp/protocol/flight.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import type { Recorder } from "../../../observe/recording/recorder.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";
import { outcomeOf } from "../outcome.ts";

export class RecorderStage implements Stage {
  readonly #recorder: Recorder;

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  leave(flight: Flight, _route: Route, answer: Answer): Answer {
    const { call } = flight;
    if (call.witness) this.#recorder.ended(flight, answer, outcomeOf(call, answer));
    return answer;
  }
}
