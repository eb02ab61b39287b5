import { answerQuestions } from '../limit/limited-thread.js';
import { regoDifference } from './rego-difference.js';
import type { RegoQuestion } from './rego-thread.js';

/** Thread for `compareRego`. */

answerQuestions(({ before, after }: RegoQuestion) => regoDifference(before, after ?? before));
