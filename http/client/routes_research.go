// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"

	"pmx/http/wire"
)

// ResearchDatasets sends GET /research/datasets. Datasets that can be exported, column by column.
func (c *Client) ResearchDatasets(ctx context.Context) (*wire.Catalogue, error) {
	r := request{method: "GET", path: "/research/datasets"}
	return call[wire.Catalogue](ctx, c, r)
}
