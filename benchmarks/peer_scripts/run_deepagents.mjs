// Three scorers of @deepagents/evals over FILE.jsonl, kept in its store.

import { dataset } from '@deepagents/evals/dataset';
import { runEval } from '@deepagents/evals/engine';
import { exactMatch, levenshtein, regex } from '@deepagents/evals/scorers';
import { RunStore } from '@deepagents/evals/store';

await runEval({
  name: 'peers',
  model: 'none',
  dataset: dataset(process.argv[2]),
  task: async ({ output }) => ({ output }),
  scorers: { exact: exactMatch, includes: regex(/refund/), levenshtein },
  store: new RunStore('store.db'),
});
