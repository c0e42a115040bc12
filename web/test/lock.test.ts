import { expect, test } from "vitest";
import lock from "../package-lock.json" with { type: "json" };

interface Package {
  version?: string;
  resolved?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const packages = Object.entries(lock.packages as Record<string, Package>);

test("the lock file names no place but the public registry, and pins every package", () => {
  for (const [path, { version, resolved, integrity }] of packages.filter(([path]) => path !== "")) {
    expect(resolved ?? "https://registry.npmjs.org/", path).toMatch(/^https:\/\/registry\.npmjs\.org\//);
    expect(version, path).toMatch(/^\d+\./);
    expect(integrity, path).toMatch(/^sha512-/);
  }
});

// A registry that lacks some machine's package leaves it out of the lock file without a word, and `npm ci` then fails everywhere.
test("the lock file holds the packages of every kind of machine", () => {
  const held = new Set(packages.map(([path]) => path.replace(/^.*node_modules\//, "")));
  const wanted = packages.flatMap(([, { dependencies, optionalDependencies }]) => Object.keys({ ...dependencies, ...optionalDependencies }));
  expect(wanted.filter((name) => !held.has(name))).toEqual([]);
});
