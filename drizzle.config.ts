import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: ["./src/store/schema/index.ts", "./src/report/stored/*.ts", "./src/report/relations/*.ts"],
  out: "./migrations",
});
