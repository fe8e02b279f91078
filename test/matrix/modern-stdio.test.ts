import { describeMatrix } from "./describe-matrix.ts";

describeMatrix({ era: "modern", transport: "stdio" });
