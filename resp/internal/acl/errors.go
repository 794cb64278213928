package acl

// A ruleError is what is wrong with a rule, in the words of Redis.
type ruleError string

// Error returns the text.
func (e ruleError) Error() string { return string(e) }

const (
	errSyntax      ruleError = "Syntax error"
	errUnknown     ruleError = "Unknown command or category name in ACL"
	errAllKeys     ruleError = "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
	errAllChannels ruleError = "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
	errNoPassword  ruleError = "The password you are trying to remove from the user does not exist"
	errHash        ruleError = "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
	errFirstOfSub  ruleError = "Allowing first-arg of a subcommand is not supported"
	errTooLarge    ruleError = "The user would have more rules than a user may have"
)

// errProvisional says that the users of the ACL file count, but are not agreed on yet.
const errProvisional ruleError = "the users of the ACL file are not agreed on yet: try again"

// ErrDefault says that there is always a default user.
const ErrDefault ruleError = "The 'default' user cannot be removed"
