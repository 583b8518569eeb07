package wire

// answeredTypes gives the answer to a driver's look-up of types.
func answeredTypes(text string) *answer { return nil }
