import type { Steps } from '../../compiler/steps.js';
import { declaredPath, type Raw } from '../http/endpoint.js';
import type { DecisionContext } from './decide/decide.js';
import { type RevisionReaderOptions, readAtOnce } from './decide/revision-reader.js';
import { chunkedReply, type LeanContext, revisionHeader } from './endpoint/endpoint.js';
import type { RequestContext } from './request-context.js';

type Limits = Pick<RevisionReaderOptions, 'scheduler' | 'budget'>;

/** Context for requests at a single revision. Each request is served before the next request begins. */
export class SharedContext implements LeanContext {
	readonly current: RequestContext;
	readonly #limits: Limits;
	/** Cached flat list of headers for the data age `#age`, without its last item, the value of the decision id. */
	#headers: readonly string[] = [];
	#age = -1;

	constructor(current: RequestContext, limits: Limits) {
		this.current = current;
		this.#limits = limits;
	}

	answer(work: (context: DecisionContext) => Steps<readonly string[]>): Raw | typeof declaredPath {
		const done = readAtOnce(this.current, work, this.#limits);
		return done === undefined ? declaredPath : chunkedReply({ ...done, ...this.current });
	}

	/** Returns the headers of the response, as a flat list. */
	headers(): readonly string[] {
		const { dataAge, decisionId } = this.current;
		if (dataAge !== this.#age) {
			this.#age = dataAge;
			const all = Object.entries(revisionHeader(this.current)).flat();
			this.#headers = decisionId === undefined ? all : all.slice(0, -1);
		}
		return decisionId === undefined ? this.#headers : [...this.#headers, decisionId];
	}
}
