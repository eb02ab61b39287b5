import { z } from 'zod';

/** Maximum secret length in a request, in characters. */
const maxTokenLength = 16_384;

/** A secret in a request. Problem reports do not show it. */
export const HiddenText = z.string().superRefine((text, ctx) => {
	// Replace the problem input, because messages show text inputs.
	if (text.length > maxTokenLength || text === '') ctx.addIssue({ code: 'custom', message: tokenMessage, input: {} });
});
const tokenMessage = `must have 1 to ${maxTokenLength} characters`;
