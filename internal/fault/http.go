package fault

// HTTPStatus maps a code to the status of an HTTP answer. A body with the code goes with it: the status is for those who look
// no further.
func HTTPStatus(c Code) int {
	switch c {
	case "":
		return 200
	case InvalidArgument:
		return 400
	case Forbidden:
		return 403
	case NotFound, UnregisteredProject:
		return 404
	case Ambiguous, Conflict, ApplyConflict, NeedsConsent:
		return 409
	case Unsupported:
		return 422
	case Unavailable:
		return 503
	case Internal:
		return 500
	}
	return 500
}
