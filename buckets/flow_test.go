package buckets

import "math"

// cheapest is the least cost of any placement within the quotas: a flow of least cost from
// the buckets (copies units each) over the members (one unit for each bucket, at the cost of
// the copy) to the sink, which demands the floor of each quota and takes up to the ceiling.
// It is found with Bellman and Ford's search on the whole graph, and shares nothing with
// the strategy.
func cheapest(costs [][]int, floors, ceilings []int, copies int, z zoning) int {
	buckets, members := len(costs), len(floors)
	g := flow{from: make([][]int, buckets+members+2)}
	source, sink := buckets+members, buckets+members+1
	const must = 1 << 40
	for i := range costs {
		g.edge(source, i, copies, 0)
		inZone := make(map[int32]int) // a vertex for each zone of the bucket
		for m, cost := range costs[i] {
			from := i
			if z.zone != nil {
				at, known := inZone[z.zone[m]]
				if !known {
					at = len(g.from)
					inZone[z.zone[m]] = at
					g.from = append(g.from, nil)
					g.edge(i, at, z.most, 0)
				}
				from = at
			}
			g.edge(from, buckets+m, 1, cost)
		}
	}
	floorSum := 0
	for m := range floors {
		g.edge(buckets+m, sink, floors[m], -must)
		g.edge(buckets+m, sink, ceilings[m]-floors[m], 0)
		floorSum += floors[m]
	}
	return g.cost(source, sink) + must*floorSum
}

// nearest is the least sum of the squares of what members serve above or below their
// shares, if each bucket is served by one of its holders: a flow whose unit number j
// into a member costs what the square grows by.
func nearest(holders [][]int, shares []float64) float64 {
	const scale = 1 << 20
	buckets, members := len(holders), len(shares)
	g := flow{from: make([][]int, buckets+members+2)}
	source, sink := buckets+members, buckets+members+1
	for i, nodes := range holders {
		g.edge(source, i, 1, 0)
		for _, m := range nodes {
			g.edge(i, buckets+m, 1, 0)
		}
	}
	sum := 0.0
	for m, share := range shares {
		sum += share * share
		for j := 1; j <= buckets; j++ {
			g.edge(buckets+m, sink, 1, int(math.Round((2*float64(j)-1-2*share)*scale)))
		}
	}
	return sum + float64(g.cost(source, sink))/scale
}

type flow struct {
	edges []flowEdge
	from  [][]int
}

type flowEdge struct{ to, left, cost int }

func (g *flow) edge(from, to, capacity, cost int) {
	if capacity == 0 {
		return
	}
	g.from[from] = append(g.from[from], len(g.edges))
	g.edges = append(g.edges, flowEdge{to, capacity, cost})
	g.from[to] = append(g.from[to], len(g.edges))
	g.edges = append(g.edges, flowEdge{from, 0, -cost})
}

// cost sends as much as it can, the cheapest way, and returns what it costs.
func (g *flow) cost(source, sink int) (sum int) {
	const far = 1 << 60
	for {
		distance := make([]int, len(g.from))
		by := make([]int, len(g.from))
		waits := make([]bool, len(g.from))
		for i := range distance {
			distance[i] = far
		}
		distance[source] = 0
		queue := []int{source}
		for len(queue) > 0 {
			u := queue[0]
			queue, waits[u] = queue[1:], false
			for _, e := range g.from[u] {
				edge := g.edges[e]
				if edge.left > 0 && distance[u]+edge.cost < distance[edge.to] {
					distance[edge.to], by[edge.to] = distance[u]+edge.cost, e
					if !waits[edge.to] {
						queue, waits[edge.to] = append(queue, edge.to), true
					}
				}
			}
		}
		if distance[sink] == far {
			return sum
		}
		for v := sink; v != source; v = g.edges[by[v]^1].to {
			g.edges[by[v]].left--
			g.edges[by[v]^1].left++
		}
		sum += distance[sink]
	}
}
