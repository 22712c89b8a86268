// outside.cpp -- the same in C++.
#include <arras/arras.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace
{

using graph_ptr = std::unique_ptr<arras_graph, void (*)(arras_graph *)>;
using results_ptr = std::unique_ptr<arras_results, void (*)(arras_results *)>;

graph_ptr new_graph()
{
    arras_graph *g = nullptr;
    arras_error  err;

    if (arras_graph_new(&g, &err))
        throw std::runtime_error(err.text);
    return graph_ptr(g, arras_graph_free);
}

results_ptr evaluate(const arras_graph *g, const std::vector<arras_binding> &inputs)
{
    arras_results *results = nullptr;
    arras_error    err;

    if (arras_evaluate(&results, g, static_cast<int>(inputs.size()), inputs.data(), &err))
        throw std::runtime_error(err.text);
    return results_ptr(results, arras_results_free);
}

bool run()
{
    const int64_t       shape[] = { 3 };
    std::vector<double> data = { 1, 2, 3 };
    graph_ptr           g = new_graph();
    arras_array         x = arras_placeholder(g.get(), "x", ARRAS_F64, 1, shape);

    arras_output(g.get(), "y",
                 arras_multiply(arras_add(x, arras_int(g.get(), 1)), arras_int(g.get(), 2)));
    results_ptr results =
        evaluate(g.get(), { { "x", { data.data(), ARRAS_F64, 1, shape, nullptr } } });
    const arras_binding *y = arras_results_find(results.get(), "y");
    const double        *cells = static_cast<const double *>(y->buffer.data);

    std::cout << "outside: " << cells[0] << ' ' << cells[1] << ' ' << cells[2] << '\n';
    return std::vector<double>(cells, cells + 3) == std::vector<double>{ 4, 6, 8 };
}

} // namespace

int main(int argc, char **argv)
{
    if (argc > 1 && std::strcmp(argv[1], "--version") == 0) {
        std::cout << arras_version() << '\n';
        return 0;
    }
    try {
        return run() ? 0 : 1;
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
