/** There is no service manager, or it did not do what it was asked for. */
export class ServiceError extends Error {}
