import { describeMatrix } from "./describe-matrix.ts";

describeMatrix({ era: "modern", transport: "http" }, 3);
