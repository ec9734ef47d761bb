# fast_wheel_torch(FOLDER): the LibTorch of a PyTorch wheel, `.../site-packages/torch`, as the target
# `torch`, on the CPU. The wheel's own CMake package asks for CUDA's toolkit where PyTorch was built
# with CUDA.
function(fast_wheel_torch folder)
  foreach(file include/torch/csrc/api/include/torch/torch.h lib/libtorch_cpu.so lib/libc10.so)
    if(NOT EXISTS ${folder}/${file})
      message(FATAL_ERROR "FAST_LIBTORCH=${folder}: ${file} is not there; name the folder that "
              "'python3 -c \"import torch; print(torch.__path__[0])\"' prints")
    endif()
  endforeach()
  if(TARGET torch)
    return()
  endif()
  add_library(torch INTERFACE IMPORTED GLOBAL)
  set_target_properties(torch PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${folder}/include;${folder}/include/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES "${folder}/lib/libtorch_cpu.so;${folder}/lib/libc10.so")
endfunction()
