package moment

import (
	"context"
	"fmt"
)

// Libraries returns the code of all libraries of functions that the cluster has agreed on. They belong to what a
// moment shows, though not to the moment itself.
func Libraries(ctx context.Context, ring Asker) ([]string, error) {
	list, err := ring.Do(ctx, "FUNCTION", "LIST", "WITHCODE").List()
	if err != nil {
		return nil, err
	}
	codes := make([]string, 0, len(list))
	for _, library := range list {
		fields, err := library.Map()
		if err != nil {
			return nil, err
		}
		code, err := fields["library_code"].Text()
		if err != nil {
			return nil, fmt.Errorf("the code of a library: %w", err)
		}
		codes = append(codes, code)
	}
	return codes, nil
}
