import { describeMatrix } from "./describe-matrix.ts";

describeMatrix({ era: "legacy", transport: "http" }, 3);
